// The arguments of actions: which action takes which, and what they may be.
#pragma once

#include <span>
#include <string_view>

#include "manifest/config_reader.h"
#include "model/config.h"

namespace reprieve {

// Names in the order of ActionKind.
[[nodiscard]] std::span<const std::string_view> action_names();

[[nodiscard]] bool takes_arg(ActionKind kind, std::string_view name);

// One argument that `action` takes.
void decode_action_arg(ConfigReader& in, const ConfigField& arg, ActionConfig& action);

// `args` is the mapping of an action whose kind is set.
void decode_action_args(ConfigReader& in, const ConfigField& args, ActionConfig& action);

}  // namespace reprieve
