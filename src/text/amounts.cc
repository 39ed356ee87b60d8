#include "text/amounts.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "model/amount_text.h"

namespace reprieve {
namespace {

// REQUIRES: a decimal point in the text.
std::string without_zeros(std::string number) {
    number.erase(number.find_last_not_of('0') + 1);
    if (number.back() == '.') number.pop_back();
    return number;
}

}  // namespace

std::string human_bytes(std::int64_t bytes) {
    static constexpr std::array<const char*, 7> kUnits{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    auto amount = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (std::fabs(amount) >= 1024 && unit + 1 < kUnits.size()) {
        amount /= 1024;
        ++unit;
    }
    return without_zeros(fmt::format("{:.2f}", amount)) + kUnits[unit];
}

std::string human_amount(std::string_view resource, std::int64_t amount) {
    if (resource == "cpu") return without_zeros(fmt::format("{:.3f}", static_cast<double>(amount) / 1000));
    return is_in_bytes(resource) ? human_bytes(amount) : fmt::format("{}", amount);
}

}  // namespace reprieve
