// Hashing for tables and for the order-free digest of a snapshot. Not for secrets.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace reprieve {

constexpr std::uint64_t mix_hash(std::uint64_t a, std::uint64_t b) {
    std::uint64_t x = a ^ (b + 0x9E3779B97F4A7C15ULL + (a << 6U) + (a >> 2U));
    x ^= x >> 32U;
    x *= 0xD6E8FEB86659FD93ULL;
    x ^= x >> 29U;
    return x;
}

inline std::uint64_t hash_bytes(std::string_view text, std::uint64_t seed = 0x51ED270B9F1C4E35ULL) {
    std::uint64_t h = seed ^ (text.size() * 0x9E3779B97F4A7C15ULL);
    const char* p = text.data();
    std::size_t left = text.size();
    while (left >= 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, p, 8);
        h = mix_hash(h, word);
        p += 8;
        left -= 8;
    }
    if (left > 0) {
        std::uint64_t word = 0;
        std::memcpy(&word, p, left);
        h = mix_hash(h, word);
    }
    return h ^ (h >> 31U);
}

}  // namespace reprieve
