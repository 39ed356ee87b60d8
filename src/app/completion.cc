#include "app/completion.h"

#include "app/completion_texts.h"

namespace reprieve {

std::optional<std::string_view> completion_script(std::string_view shell) {
    if (shell == "bash") return kBashCompletion;
    if (shell == "zsh") return kZshCompletion;
    if (shell == "fish") return kFishCompletion;
    return std::nullopt;
}

}  // namespace reprieve
