// 128-bit integers, for products and sums that can exceed 64 bits.
#pragma once

#include <cstdint>
#include <limits>

namespace reprieve {

__extension__ using Wide = __int128;

// a * b / c without overflow in between. REQUIRES: c > 0 and the result fits.
constexpr std::int64_t multiply_divide(std::int64_t a, std::int64_t b, std::int64_t c) {
    return static_cast<std::int64_t>(static_cast<Wide>(a) * b / c);
}

// The same; a result beyond 64 bits is the nearest number there is. REQUIRES: c > 0.
constexpr std::int64_t saturating_multiply_divide(std::int64_t a, std::int64_t b, std::int64_t c) {
    const Wide exact = static_cast<Wide>(a) * b / c;
    if (exact > std::numeric_limits<std::int64_t>::max()) return std::numeric_limits<std::int64_t>::max();
    if (exact < std::numeric_limits<std::int64_t>::min()) return std::numeric_limits<std::int64_t>::min();
    return static_cast<std::int64_t>(exact);
}

}  // namespace reprieve
