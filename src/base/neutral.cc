#include "base/neutral.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace reprieve {
namespace {

struct Range {
    char32_t first;
    char32_t last;
};

// What leaves no mark of its own, or changes how its neighbours are shown; sorted.
constexpr std::array kHidden{
    Range{0x0000, 0x001F},
    Range{0x007F, 0x009F},
    Range{0x00AD, 0x00AD},
    Range{0x034F, 0x034F},
    Range{0x061C, 0x061C},
    Range{0x115F, 0x1160},
    Range{0x17B4, 0x17B5},
    Range{0x180B, 0x180F},
    Range{0x200B, 0x200F},
    Range{0x2028, 0x202E},
    Range{0x2060, 0x206F},
    Range{0x3164, 0x3164},
    Range{0xFE00, 0xFE0F},
    Range{0xFEFF, 0xFEFF},
    Range{0xFFA0, 0xFFA0},
    Range{0xFFF0, 0xFFFB},
    Range{0xE0000, 0xE0FFF},
};

bool is_hidden(char32_t code) {
    const auto at = std::ranges::lower_bound(kHidden, code, {}, &Range::last);
    return at != kHidden.end() && at->first <= code;
}

std::string spelled(char32_t code) {
    if (code == '\n') return "\\n";
    if (code == '\r') return "\\r";
    if (code == '\t') return "\\t";
    const auto number = static_cast<std::uint32_t>(code);
    if (code < 0x80) return fmt::format("\\x{:02x}", number);
    return code < 0x10000 ? fmt::format("\\u{:04x}", number) : fmt::format("\\U{:08x}", number);
}

bool is_plain(char byte) { return byte >= 0x20 && byte < 0x7F; }

}  // namespace

std::string neutral(std::string_view text) {
    if (std::ranges::all_of(text, is_plain)) return std::string(text);
    std::string out;
    while (!text.empty()) {
        const std::string_view rest = text;
        const char32_t code = take_code_point(text);
        const std::string_view taken = rest.substr(0, rest.size() - text.size());
        if (code == 0xFFFD && taken.size() == 1) {
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(taken.front()));
        } else if (is_hidden(code)) {
            out += spelled(code);
        } else {
            out += taken;
        }
    }
    return out;
}

}  // namespace reprieve
