// volcano-scheduler.conf, mapped onto a SchedulerConfig: actions by name, tiers flattened.
//
// What has no counterpart is said in SchedulerConfig::warnings; what Volcano itself would not accept is an error.
#pragma once

#include <vector>

#include "manifest/config_reader.h"
#include "model/config.h"

namespace reprieve {

// `fields` are the top-level keys: Volcano's have `actions` as one string, or tiers and no actions, and neither
// apiVersion nor kind.
[[nodiscard]] bool is_volcano_config(const std::vector<ConfigField>& fields);

[[nodiscard]] SchedulerConfig read_volcano_config(ConfigReader& in, const std::vector<ConfigField>& fields);

}  // namespace reprieve
