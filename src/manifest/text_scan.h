// Finds the end of a JSON string eight bytes at a time, and counts lines.
//
// REQUIRES of a string: it is closed (simdjson has seen to that) and eight readable bytes follow it (its padding).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "manifest/byte_masks.h"

namespace reprieve {

struct ScannedText {
    std::size_t size = 0;  // up to the closing quote, or to the first escape
    bool escapes = false;
};

namespace scan_detail {

constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
constexpr std::uint64_t kHighs = 0x8080808080808080ULL;

// A high bit for each zero byte; those above the lowest one may be wrong, which nobody looks at.
constexpr std::uint64_t zero_bytes(std::uint64_t word) { return (word - kOnes) & ~word & kHighs; }

inline std::size_t first_of_quote_or_escape(const char* from) {
    for (const char* at = from;; at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, at, 8);
        if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
        const std::uint64_t found = zero_bytes(word ^ (kOnes * '"')) | zero_bytes(word ^ (kOnes * '\\'));
        if (found != 0)
            return static_cast<std::size_t>(at - from) + static_cast<std::size_t>(std::countr_zero(found)) / 8;
    }
}

}  // namespace scan_detail

inline ScannedText scan_text(const char* from) {
    const std::size_t size = scan_detail::first_of_quote_or_escape(from);
    return {size, from[size] == '\\'};
}

// Up to the closing quote, escapes as they are written.
inline std::size_t whole_text_size(const char* from) {
    std::size_t size = 0;
    while (true) {
        size += scan_detail::first_of_quote_or_escape(from + size);
        if (from[size] == '"') return size;
        size += 2;
    }
}

inline std::size_t count_lines(const char* from, std::size_t size) {
    std::size_t count = 0;
    for (; size >= 64; from += 64, size -= 64)
        count += count_bits(find_line_ends(from));
    for (; size > 0; ++from, --size)
        count += *from == '\n' ? 1 : 0;
    return count;
}

}  // namespace reprieve
