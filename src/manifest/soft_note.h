// How a soft eviction is written down on its victim.
#pragma once

#include <string>

#include "model/plan.h"
#include "model/soft_eviction.h"

namespace reprieve {

// The value of SoftEviction::kAnnotation. Times are in whole seconds.
[[nodiscard]] std::string soft_note(const Eviction& eviction, Time now);

}  // namespace reprieve
