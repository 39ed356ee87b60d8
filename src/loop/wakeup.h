// Wakeup: when time alone may change a decision, with no fact changing.
#pragma once

#include "base/time.h"
#include "model/config.h"
#include "model/plan.h"
#include "state/cluster.h"

namespace reprieve {

// The earliest such time after now; not set: there is none. `plan` is what was decided now: where nothing waits, time
// cannot help anybody. `at_a_standstill`: those who make room for serving deployments have been waited for in vain.
[[nodiscard]] Time next_wakeup(const Cluster& cluster,
                               const Plan& plan,
                               const SchedulerConfig& config,
                               bool at_a_standstill = false);

}  // namespace reprieve
