#include "simulate/numbers.h"

#include <charconv>

namespace reprieve {
namespace {

constexpr std::int64_t kLargest = INT64_MAX / 16;

}  // namespace

std::optional<std::int64_t> parse_decimal(std::string_view text, int places) {
    if (text.empty() || text.front() == '.' || text.back() == '.') return std::nullopt;
    std::int64_t value = 0;
    bool fraction = false;
    for (const char c : text) {
        if (c == '.' && !fraction) {
            fraction = true;
            continue;
        }
        if (c < '0' || c > '9') return std::nullopt;
        if (fraction && places == 0) {
            if (c != '0') return std::nullopt;
            continue;
        }
        if (value > kLargest / 10) return std::nullopt;
        value = value * 10 + (c - '0');
        if (fraction) --places;
    }
    for (; places > 0; --places) {
        if (value > kLargest / 10) return std::nullopt;
        value *= 10;
    }
    return value;
}

std::optional<std::int64_t> parse_whole(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
    return value;
}

std::optional<Duration> parse_trace_seconds(std::string_view text) {
    constexpr std::int64_t kMost = std::int64_t{10'000} * 366 * 86'400 * 1'000'000;
    const auto us = parse_decimal(text, 6);
    if (!us || *us > kMost) return std::nullopt;
    return Duration{*us};
}

}  // namespace reprieve
