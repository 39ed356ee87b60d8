// Compression of answers and of what is built into the program.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace reprieve {

// A gzip stream, quickly made rather than small.
[[nodiscard]] std::string gzip(std::string_view text);
[[nodiscard]] Result<std::string> gunzip(std::string_view bytes);

}  // namespace reprieve
