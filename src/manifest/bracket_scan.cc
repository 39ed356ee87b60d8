#include "manifest/bracket_scan.h"

#include <algorithm>
#include <bit>

#include "manifest/byte_masks.h"

namespace reprieve {
namespace {

// Bit i is the parity of the bits up to and including i.
std::uint64_t parities(std::uint64_t bits) {
    bits ^= bits << 1U;
    bits ^= bits << 2U;
    bits ^= bits << 4U;
    bits ^= bits << 8U;
    bits ^= bits << 16U;
    return bits ^ (bits << 32U);
}

std::uint64_t low_bits(std::size_t count) { return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1; }

}  // namespace

std::optional<std::size_t> BracketScan::find_end(std::string_view text) {
    while (scanned_ < text.size()) {
        const std::size_t count = std::min<std::size_t>(text.size() - scanned_, 64);
        const std::optional<std::size_t> end = scan_block(text.data() + scanned_, count);
        if (end) return scanned_ + *end;
        scanned_ += count;
    }
    return std::nullopt;
}

// The quotes that no backslash stands before. Backslashes escape each other from the first of a row on.
std::uint64_t BracketScan::unescaped(std::uint64_t quotes, std::uint64_t backslashes, std::size_t count) {
    std::uint64_t escaped = escaped_ ? 1 : 0;
    backslashes &= ~escaped;
    escaped_ = false;
    while (backslashes != 0) {
        const std::uint64_t next = (backslashes & (~backslashes + 1)) << 1U;  // the byte behind the lowest one
        if (next == 0 || (next & low_bits(count)) == 0) {
            escaped_ = true;
            break;
        }
        escaped |= next;
        backslashes &= ~(next | (next - 1));
    }
    return quotes & ~escaped;
}

std::optional<std::size_t> BracketScan::scan_block(const char* block, std::size_t count) {
    ByteMasks masks = find_bytes(block);
    const std::uint64_t valid = low_bits(count);
    std::uint64_t quotes = masks.quotes & valid;
    const std::uint64_t backslashes = masks.backslashes & valid;
    if (backslashes != 0 || escaped_) quotes = unescaped(quotes, backslashes, count);

    std::uint64_t inside = parities(quotes);
    if (in_string_) inside = ~inside;
    in_string_ = (inside >> (count - 1) & 1U) != 0;
    const std::uint64_t opens = masks.opens & ~inside & valid;
    std::uint64_t closes = masks.closes & ~inside & valid;

    const std::size_t opened = count_bits(opens);
    const std::size_t closed = count_bits(closes);
    if (closed < depth_) {
        depth_ += opened - closed;
        return std::nullopt;
    }
    // It may end here: look at one closing bracket after the other.
    std::uint64_t opens_left = opens;
    for (; closes != 0; closes &= closes - 1) {
        const std::uint64_t before = (closes & (~closes + 1)) - 1;
        depth_ += count_bits(opens_left & before);
        opens_left &= ~before;
        if (--depth_ == 0) return static_cast<std::size_t>(std::countr_zero(closes)) + 1;
    }
    depth_ += count_bits(opens_left);
    return std::nullopt;
}

}  // namespace reprieve
