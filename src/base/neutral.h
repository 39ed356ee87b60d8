// Text that came from outside, made fit for a terminal or a log.
//
// Names and reasons come from files that anybody may have written. What could move the cursor, start an escape
// sequence, turn the writing direction or hide is shown as what it is: \x1b, \n, \u202e.
#pragma once

#include <string>
#include <string_view>

namespace reprieve {

// `text` with every control, invisible and direction-changing character, and every invalid byte, spelled out.
[[nodiscard]] std::string neutral(std::string_view text);

}  // namespace reprieve
