// Demands: the pods that wait, as all-or-nothing demands.
#pragma once

#include <vector>

#include "state/cluster.h"
#include "state/demand.h"

namespace reprieve {

// One demand per gang with a minimum (all its pending pods) and one per other pending pod.
[[nodiscard]] std::vector<Demand> find_demands(const Cluster& cluster);

[[nodiscard]] Demand single_demand(const Snapshot& snapshot, PodId pod);

// Members of a gang that must be placed together for its minimum (and its roles' minimums), in pod order; the rest is surplus.
struct Mandatory {
    std::vector<PodId> pods;
    std::vector<PodId> surplus;
    std::int32_t missing = 0;  // pods that do not exist yet
};
[[nodiscard]] Mandatory mandatory_members(const Snapshot& snapshot, const Demand& demand);

}  // namespace reprieve
