// How an intent is written down on the pod that waits: the value of the annotation reprieve.dev/plan. One author for
// the embedded cluster and the real one.
#pragma once

#include <string>

#include "model/plan.h"

namespace reprieve {

// The deadline is in whole seconds. `seen`: the resourceVersion of the newest change of a pod that the plan knew of;
// empty: there is no such thing.
[[nodiscard]] std::string plan_note(const std::string& plan_id, const Intent& intent, const std::string& seen = {});

}  // namespace reprieve
