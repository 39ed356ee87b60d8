// Paint: the few colours of our output, as ANSI sequences.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace reprieve {

enum class Paint : std::uint8_t { kPlain, kBold, kDim, kRed, kGreen, kYellow };

// The text as it is where `colour` is off.
[[nodiscard]] std::string painted(std::string_view text, Paint paint, bool colour);

}  // namespace reprieve
