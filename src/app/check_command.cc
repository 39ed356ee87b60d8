#include "app/check_command.h"

#include <fmt/format.h>

#include "app/complaint.h"
#include "app/exit_codes.h"
#include "app/inputs.h"
#include "base/neutral.h"

namespace reprieve {

int check_command(const std::string& file) {
    const auto config = load_config(file);
    if (!config) {
        print_complaint(config.error().message);
        return kExitFailure;
    }
    for (const std::string& warning : config->warnings)
        print_complaint("warning: " + warning);
    std::string actions;
    for (const ActionConfig& action : actions_of(*config))
        actions += fmt::format("{}{}", actions.empty() ? "" : ", ", to_text(action.kind));
    fmt::print("{}: ok; actions: {}\n", neutral(file), actions);
    return kExitOk;
}

}  // namespace reprieve
