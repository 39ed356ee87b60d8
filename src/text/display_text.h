// Text for a screen: made harmless (base/neutral.h), measured in screen cells, shortened, wrapped.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/neutral.h"

namespace reprieve {

// How many cells a terminal gives to the text: 2 for wide characters, 0 for combining marks.
[[nodiscard]] std::size_t display_width(std::string_view text);

// At most `width` cells: the front and the back of the text with … between them. REQUIRES: width > 0.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);

[[nodiscard]] std::vector<std::string> words_of(std::string_view text);

// The pieces, joined by spaces, in lines of at most `width` cells; 0: one line. A piece is never broken.
[[nodiscard]] std::vector<std::string> wrapped(const std::vector<std::string>& pieces, std::size_t width);

}  // namespace reprieve
