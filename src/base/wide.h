// 128-bit integers, for products and sums that can exceed 64 bits.
#pragma once

#include <cstdint>

namespace reprieve {

__extension__ using Wide = __int128;

// a * b / c without overflow in between. REQUIRES: c > 0 and the result fits.
constexpr std::int64_t multiply_divide(std::int64_t a, std::int64_t b, std::int64_t c) {
    return static_cast<std::int64_t>(static_cast<Wide>(a) * b / c);
}

}  // namespace reprieve
