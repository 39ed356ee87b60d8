// Plans read back: one plan as `plan -o json` prints it, or a log with a plan on each line.
#pragma once

#include <string>

#include "base/result.h"
#include "model/plan.h"

namespace reprieve {

// The plan; of a log the last one that speaks of `name` ("name" or "ns/name"), else the last one.
[[nodiscard]] Result<Plan> read_plan_file(const std::string& file, const std::string& name);

}  // namespace reprieve
