// Text from outside is bytes; what we print is UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace reprieve {

// Takes one code point off the front of `text`. A byte that begins no valid sequence (overlong forms and surrogates
// are none) counts as U+FFFD by itself. REQUIRES: `text` is not empty.
char32_t take_code_point(std::string_view& text);

// `text` with every invalid byte replaced by U+FFFD.
[[nodiscard]] std::string valid_utf8(std::string_view text);

}  // namespace reprieve
