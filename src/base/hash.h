// Hashing for tables and for the order-free digest of a snapshot. Not for secrets.
#pragma once

#include <cstddef>
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

// Eight bytes at a time, the last ones filled up with zeros.
template <class Take>
inline void for_each_word(std::string_view text, Take take) {
    const char* p = text.data();
    std::size_t left = text.size();
    for (; left >= 8; p += 8, left -= 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, p, 8);
        take(word);
    }
    if (left == 0) return;
    std::uint64_t word = 0;
    std::memcpy(&word, p, left);
    take(word);
}

inline constexpr std::uint64_t kHashSeed = 0x51ED270B9F1C4E35ULL;

class HashState {
public:
    HashState(std::size_t size, std::uint64_t seed) : state_(seed ^ (size * 0x9E3779B97F4A7C15ULL)) {}
    void add(std::uint64_t word) { state_ = mix_hash(state_, word); }
    [[nodiscard]] std::uint64_t value() const { return state_ ^ (state_ >> 31U); }

private:
    std::uint64_t state_;
};

inline std::uint64_t hash_bytes(std::string_view text) {
    HashState hash(text.size(), kHashSeed);
    for_each_word(text, [&](std::uint64_t word) { hash.add(word); });
    return hash.value();
}

}  // namespace reprieve
