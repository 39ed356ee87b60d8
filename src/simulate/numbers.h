// Numbers of traces as exact integers: seconds to microseconds, GPUs to thousandths. No floating point is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"

namespace reprieve {

// A decimal number times 10^places; what is finer than that, a sign, blanks and anything else are no number.
[[nodiscard]] std::optional<std::int64_t> parse_decimal(std::string_view text, int places);
[[nodiscard]] std::optional<std::int64_t> parse_whole(std::string_view text);  // a sign is allowed

// "12.5" seconds; at most ten thousand years.
[[nodiscard]] std::optional<Duration> parse_trace_seconds(std::string_view text);

// splitmix64: the generator behind everything that is drawn by seed.
[[nodiscard]] constexpr std::uint64_t splitmix64(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31U);
}

}  // namespace reprieve
