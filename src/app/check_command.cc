#include "app/check_command.h"

#include <fmt/format.h>

#include "app/exit_codes.h"
#include "app/inputs.h"

namespace reprieve {

int check_command(const std::string& file) {
    const auto config = load_config(file);
    if (!config) {
        fmt::print(stderr, "reprieve: {}\n", config.error().message);
        return kExitFailure;
    }
    for (const std::string& warning : config->warnings)
        fmt::print(stderr, "warning: {}\n", warning);
    std::string actions;
    for (const ActionConfig& action : config->actions ? *config->actions : default_actions())
        actions += fmt::format("{}{}", actions.empty() ? "" : ", ", to_text(action.kind));
    fmt::print("{}: ok; actions: {}\n", file, actions);
    return kExitOk;
}

}  // namespace reprieve
