// `reprieve check CONFIG`: whether a configuration can be used.
#pragma once

#include <string>

namespace reprieve {

[[nodiscard]] int check_command(const std::string& file);

}  // namespace reprieve
