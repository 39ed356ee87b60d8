// Order: which pod and which demand comes first. Ties end in (namespace, name).
#pragma once

#include "state/demand.h"

namespace reprieve {

// Pods: priority descending, creation, name.
[[nodiscard]] bool pod_before(const Snapshot& snapshot, PodId a, PodId b);

// Demands of one queue: priority descending, nominated ones first among equals, creation, name.
[[nodiscard]] bool demand_before(const Snapshot& snapshot, const Demand& a, const Demand& b);

}  // namespace reprieve
