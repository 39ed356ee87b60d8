// Reading a SchedulerConfig: our own format, or Volcano's volcano-scheduler.conf mapped onto it.
//
// What comes out is complete and in range; what is wrong comes out as `file:line: key: what is wrong`.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/config.h"

namespace reprieve {

// `text` is YAML or JSON; an empty one means the defaults. `file_name` is for messages only.
[[nodiscard]] Result<SchedulerConfig> parse_config(std::string_view text, std::string_view file_name);

}  // namespace reprieve
