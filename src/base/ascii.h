// Classes of characters that no locale may change.
#pragma once

namespace reprieve {

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace reprieve
