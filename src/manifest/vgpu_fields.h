// Fields of the texts in which HAMi and Volcano write devices: "GPU-1,NVIDIA,3000,30:GPU-2,...", and their limits.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reprieve {

// 64 TiB: beyond any device, and so small that sums over all pods of a node stay exact.
inline constexpr std::int64_t kMostMebi = std::int64_t{1} << 26U;
inline constexpr std::int64_t kMostCoresPercent = 100'000;

[[nodiscard]] inline std::string_view without_blanks(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// Each part without the blanks around it.
[[nodiscard]] inline std::vector<std::string_view> split_text(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    for (std::size_t from = 0;;) {
        const std::size_t to = text.find(at, from);
        parts.push_back(without_blanks(text.substr(from, to - from)));
        if (to == std::string_view::npos) return parts;
        from = to + 1;
    }
}

// Empty, or what is wrong with it: "the memory "x" is no number from 0 to 9".
template <class T>
[[nodiscard]] std::string read_count(
    std::string_view text, std::string_view what, std::int64_t low, std::int64_t most, T& out) {
    std::int64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || value < low || value > most)
        return fmt::format("{} \"{}\" is no number from {} to {}", what, text, low, most);
    out = static_cast<T>(value);
    return {};
}

}  // namespace reprieve
