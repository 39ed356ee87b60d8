// Where certain bytes stand among 64: one bit for each.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace reprieve {

struct ByteMasks {
    std::uint64_t quotes = 0;
    std::uint64_t backslashes = 0;
    std::uint64_t opens = 0;   // { [
    std::uint64_t closes = 0;  // } ]
};

// The number of bits set; without a flag for it, compilers call a library for std::popcount.
constexpr std::size_t count_bits(std::uint64_t bits) {
    bits -= (bits >> 1U) & 0x5555555555555555ULL;
    bits = (bits & 0x3333333333333333ULL) + ((bits >> 2U) & 0x3333333333333333ULL);
    bits = (bits + (bits >> 4U)) & 0x0F0F0F0F0F0F0F0FULL;
    return (bits * 0x0101010101010101ULL) >> 56U;
}

// An opening or closing bracket differs from its sister by this bit.
inline constexpr char kBracketBit = '{' ^ '[';

#if defined(__SSE2__)

inline std::uint64_t mask_of(__m128i equal, unsigned part) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(equal))) << (16 * part);
}

inline ByteMasks find_bytes(const char* block) {
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    const __m128i bit = _mm_set1_epi8(kBracketBit);
    const __m128i open = _mm_set1_epi8('{');
    const __m128i close = _mm_set1_epi8('}');
    ByteMasks masks;
    for (unsigned part = 0; part < 4; ++part) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 16 * part));
        const __m128i folded = _mm_or_si128(bytes, bit);
        masks.quotes |= mask_of(_mm_cmpeq_epi8(bytes, quote), part);
        masks.backslashes |= mask_of(_mm_cmpeq_epi8(bytes, backslash), part);
        masks.opens |= mask_of(_mm_cmpeq_epi8(folded, open), part);
        masks.closes |= mask_of(_mm_cmpeq_epi8(folded, close), part);
    }
    return masks;
}

inline std::uint64_t find_line_ends(const char* block) {
    const __m128i line_end = _mm_set1_epi8('\n');
    std::uint64_t mask = 0;
    for (unsigned part = 0; part < 4; ++part) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 16 * part));
        mask |= mask_of(_mm_cmpeq_epi8(bytes, line_end), part);
    }
    return mask;
}

#else

inline ByteMasks find_bytes(const char* block) {
    ByteMasks masks;
    for (unsigned i = 0; i < 64; ++i) {
        const std::uint64_t bit = std::uint64_t{1} << i;
        const char folded = static_cast<char>(block[i] | kBracketBit);
        if (block[i] == '"') masks.quotes |= bit;
        if (block[i] == '\\') masks.backslashes |= bit;
        if (folded == '{') masks.opens |= bit;
        if (folded == '}') masks.closes |= bit;
    }
    return masks;
}

inline std::uint64_t find_line_ends(const char* block) {
    std::uint64_t mask = 0;
    for (unsigned i = 0; i < 64; ++i)
        mask |= std::uint64_t{block[i] == '\n'} << i;
    return mask;
}

#endif

}  // namespace reprieve
