// Shell completion: the scripts that `reprieve completion SHELL` prints.
//
// The texts are the files of completions/, embedded when the program is built, so that an editor and a shell can check
// them as what they are.
#pragma once

#include <optional>
#include <string_view>

namespace reprieve {

// The script for "bash", "zsh" or "fish"; nothing for a shell we have none for.
[[nodiscard]] std::optional<std::string_view> completion_script(std::string_view shell);

}  // namespace reprieve
