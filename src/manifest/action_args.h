// The arguments of actions: which action takes which, and what they may be.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "manifest/config_reader.h"
#include "model/config.h"

namespace reprieve {

// Names in the order of ActionKind.
[[nodiscard]] std::span<const std::string_view> action_names();
// The action of this name; a complaint if there is none.
[[nodiscard]] ActionKind read_action_name(ConfigReader& in, const ConfigField& at);
// The gang actions under every name that people write for them.
[[nodiscard]] std::optional<ActionKind> gang_action_named(std::string_view name);

// Every argument that some action takes.
[[nodiscard]] std::vector<std::string_view> action_arg_names();
[[nodiscard]] bool takes_arg(ActionKind kind, std::string_view name);

// One argument that `action` takes.
void decode_action_arg(ConfigReader& in, const ConfigField& arg, ActionConfig& action);

// `args` is the mapping of an action whose kind is set.
void decode_action_args(ConfigReader& in, const ConfigField& args, ActionConfig& action);

// plugins.args.quota.
void decode_quota_args(ConfigReader& in, const ConfigField& args, QuotaArgs& out);
// The same as they stand in an entry of `actions`.
[[nodiscard]] QuotaArgs quota_args_of_action(ConfigReader& in, const ConfigField& action);

}  // namespace reprieve
