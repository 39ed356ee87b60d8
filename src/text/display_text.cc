#include "text/display_text.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/check.h"
#include "base/utf8.h"

namespace reprieve {
namespace {

struct Range {
    char32_t first;
    char32_t last;
};

constexpr std::array kCombining{
    Range{0x0300, 0x036F},
    Range{0x0483, 0x0489},
    Range{0x0591, 0x05BD},
    Range{0x0610, 0x061A},
    Range{0x064B, 0x065F},
    Range{0x0E31, 0x0E31},
    Range{0x0E34, 0x0E3A},
    Range{0x0E47, 0x0E4E},
    Range{0x1AB0, 0x1AFF},
    Range{0x1DC0, 0x1DFF},
    Range{0x20D0, 0x20FF},
    Range{0x302A, 0x302D},
    Range{0x3099, 0x309A},
    Range{0xFE20, 0xFE2F},
};

constexpr std::array kWide{
    Range{0x1100, 0x115F},
    Range{0x231A, 0x231B},
    Range{0x2E80, 0x303E},
    Range{0x3041, 0xA4CF},
    Range{0xA960, 0xA97F},
    Range{0xAC00, 0xD7A3},
    Range{0xF900, 0xFAFF},
    Range{0xFE30, 0xFE6F},
    Range{0xFF00, 0xFF60},
    Range{0xFFE0, 0xFFE6},
    Range{0x1F300, 0x1F64F},
    Range{0x1F680, 0x1F6FF},
    Range{0x1F900, 0x1F9FF},
    Range{0x20000, 0x3FFFD},
};

bool contains(std::span<const Range> ranges, char32_t code) {
    const auto at = std::ranges::lower_bound(ranges, code, {}, &Range::last);
    return at != ranges.end() && at->first <= code;
}

std::size_t cells_of(char32_t code) {
    if (code < 0x300) return 1;
    if (contains(kCombining, code)) return 0;
    return contains(kWide, code) ? 2 : 1;
}

}  // namespace

std::size_t display_width(std::string_view text) {
    std::size_t cells = 0;
    while (!text.empty())
        cells += cells_of(take_code_point(text));
    return cells;
}

std::string shortened(std::string_view text, std::size_t width) {
    REPRIEVE_CHECK(width > 0);
    const std::size_t whole = display_width(text);
    if (whole <= width) return std::string(text);
    // The back gets the odd cell: what tells pods apart is at the end of their names.
    const std::size_t front_cells = (width - 1) / 2;
    const std::size_t back_cells = width - 1 - front_cells;
    std::string front;
    std::size_t seen = 0;
    std::string_view rest = text;
    while (!rest.empty()) {
        std::string_view next = rest;
        const std::size_t cells = cells_of(take_code_point(next));
        if (seen + cells <= front_cells) front += rest.substr(0, rest.size() - next.size());
        // A combining mark without its letter would sit on the … instead.
        if (seen >= whole - back_cells && cells > 0) break;
        seen += cells;
        rest = next;
    }
    return front + "…" + std::string(rest);
}

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        if (end > 0) words.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return words;
}

std::vector<std::string> wrapped(const std::vector<std::string>& pieces, std::size_t width) {
    std::vector<std::string> lines;
    std::size_t used = 0;
    for (const std::string& piece : pieces) {
        const std::size_t cells = display_width(piece);
        if (lines.empty() || (width != 0 && used + 1 + cells > width)) {
            lines.push_back(piece);
            used = cells;
        } else {
            lines.back() += " " + piece;
            used += 1 + cells;
        }
    }
    return lines;
}

}  // namespace reprieve
