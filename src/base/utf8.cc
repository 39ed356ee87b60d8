#include "base/utf8.h"

#include <algorithm>
#include <cstddef>

namespace reprieve {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

struct Lead {
    std::size_t length = 0;  // of the sequence; 0: not a lead byte
    char32_t bits = 0;
    char32_t smallest = 0;  // anything below is an overlong form
};

Lead lead_of(unsigned char byte) {
    if (byte < 0x80) return {1, byte, 0};
    if ((byte & 0xE0U) == 0xC0) return {2, byte & 0x1FU, 0x80};
    if ((byte & 0xF0U) == 0xE0) return {3, byte & 0x0FU, 0x800};
    if ((byte & 0xF8U) == 0xF0) return {4, byte & 0x07U, 0x10000};
    return {};
}

// 0 if the front of `text` is no valid sequence.
std::size_t sequence_length(std::string_view text, char32_t& code) {
    const Lead lead = lead_of(static_cast<unsigned char>(text.front()));
    if (lead.length == 0 || lead.length > text.size()) return 0;
    code = lead.bits;
    for (std::size_t i = 1; i < lead.length; ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if ((byte & 0xC0U) != 0x80) return 0;
        code = (code << 6U) | (byte & 0x3FU);
    }
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    return code < lead.smallest || code > 0x10FFFF || surrogate ? 0 : lead.length;
}

}  // namespace

char32_t take_code_point(std::string_view& text) {
    char32_t code = 0;
    const std::size_t length = sequence_length(text, code);
    text.remove_prefix(length == 0 ? 1 : length);
    return length == 0 ? kReplacement : code;
}

std::string valid_utf8(std::string_view text) {
    // Nearly all texts are plain.
    if (std::ranges::none_of(text, [](char c) { return (static_cast<unsigned char>(c) & 0x80U) != 0; }))
        return std::string(text);
    std::string valid;
    valid.reserve(text.size());
    while (!text.empty()) {
        char32_t code = 0;
        const std::size_t length = sequence_length(text, code);
        if (length == 0) {
            valid += "\xEF\xBF\xBD";
            text.remove_prefix(1);
        } else {
            valid += text.substr(0, length);
            text.remove_prefix(length);
        }
    }
    return valid;
}

}  // namespace reprieve
