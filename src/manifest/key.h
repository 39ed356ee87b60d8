// Field names as numbers, so that a decoder can `switch` on them: `case "containers"_key:`.
//
// Two names that a decoder knows never share a number (the compiler refuses equal cases). An unknown name shares one
// with a known name with probability 2^-64.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace reprieve {

enum class KeyId : std::uint64_t {};

namespace key_detail {

// `size` bytes, at most 8, as a little-endian number.
template <class Word>
constexpr std::uint64_t load(const char* from) {
    if consteval {
        std::uint64_t word = 0;
        for (std::size_t i = 0; i < sizeof(Word); ++i) {
            word |= static_cast<std::uint64_t>(static_cast<unsigned char>(from[i])) << (8 * i);
        }
        return word;
    } else {
        Word word = 0;
        std::memcpy(&word, from, sizeof word);
        if constexpr (std::endian::native == std::endian::big && sizeof(Word) > 1) {
            if constexpr (sizeof(Word) == 8) word = __builtin_bswap64(word);
            if constexpr (sizeof(Word) == 4) word = __builtin_bswap32(word);
        }
        return word;
    }
}

constexpr std::uint64_t fold(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
    return hash ^ (hash >> 32U);
}

}  // namespace key_detail

constexpr KeyId key_id(std::string_view name) {
    using namespace key_detail;
    const char* at = name.data();
    std::size_t left = name.size();
    std::uint64_t hash = left * 0xD6E8FEB86659FD93ULL;
    if (left >= 8) {
        for (; left > 8; left -= 8, at += 8)
            hash = fold(hash, load<std::uint64_t>(at));
        // The last eight bytes, which may overlap those before.
        return KeyId(fold(hash, load<std::uint64_t>(at + left - 8)));
    }
    if (left >= 4) return KeyId(fold(fold(hash, load<std::uint32_t>(at)), load<std::uint32_t>(at + left - 4)));
    for (; left > 0; --left, ++at)
        hash = fold(hash, load<std::uint8_t>(at));
    return KeyId(hash);
}

consteval KeyId operator""_key(const char* text, std::size_t size) { return key_id({text, size}); }

}  // namespace reprieve
