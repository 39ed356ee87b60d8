#include "model/amount_text.h"

#include <array>
#include <cctype>

#include "base/quantity.h"
#include "base/wide.h"

namespace reprieve {
namespace {

std::string bytes_text(std::int64_t bytes) {
    static constexpr std::int64_t kKibi = 1024;
    static constexpr std::int64_t kQuarter = 25;
    static constexpr std::array<const char*, 6> kUnits{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    std::string exact = format_bytes(bytes);
    if (bytes < kKibi || std::isalpha(static_cast<unsigned char>(exact.back())) != 0) return exact;
    std::int64_t factor = kKibi;
    std::size_t unit = 0;
    for (; bytes / factor >= kKibi; ++unit)
        factor *= kKibi;
    const auto hundredths = static_cast<std::int64_t>((static_cast<Wide>(bytes) * 100 + factor / 2) / factor);
    std::string text = std::to_string(hundredths / 100);
    if (const std::int64_t rest = hundredths % 100; rest > 0) {
        text += '.';
        text += static_cast<char>('0' + rest / 10);
        if (rest % 10 > 0) text += static_cast<char>('0' + rest % 10);
    }
    text += kUnits[unit];
    if (hundredths % kQuarter != 0) return text;
    const bool over = static_cast<Wide>(bytes) * 100 > static_cast<Wide>(hundredths) * factor;
    return (over ? "just over " : "just under ") + text;
}

}  // namespace

bool is_in_bytes(std::string_view resource) {
    return resource == "memory" || resource == "storage" || resource == "ephemeral-storage" ||
           resource == "reprieve.dev/gpu-memory" || resource.starts_with("hugepages-");
}

std::string amount_text(std::string_view resource, std::int64_t value) {
    if (resource == "cpu") return format_cpu(value);
    return is_in_bytes(resource) ? bytes_text(value) : std::to_string(value);
}

}  // namespace reprieve
