// What `plan --verify` has to say.
#pragma once

#include <string>

#include "explain/stability.h"

namespace reprieve {

// What was checked and held, a line each. REQUIRES: the report is stable.
[[nodiscard]] std::string stability_to_text(const StabilityReport& report, bool evicts);

}  // namespace reprieve
