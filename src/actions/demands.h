// Demands: the pods that wait, as all-or-nothing demands.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "state/cluster.h"
#include "state/demand.h"

namespace reprieve {

// One demand per gang with a minimum (all its pending pods) and one per other pending pod.
[[nodiscard]] std::vector<Demand> find_demands(const Cluster& cluster);

[[nodiscard]] Demand single_demand(const Snapshot& snapshot, PodId pod);

// Whether one of these names, with or without a namespace, is the gang's, a pod's or that of a pod's controller.
[[nodiscard]] bool is_named_by(const Snapshot& snapshot, const Demand& demand, const std::vector<std::string>& names);
// Whether its pods ask for no resources at all.
[[nodiscard]] bool asks_for_nothing(const Snapshot& snapshot, const Demand& demand);

// Members of a gang that must be placed together for its minimum (its roles' and its sub-groups' minimums), in pod
// order. The rest is surplus: taken in batches, because a sub-group starts with its full size or not at all.
struct Mandatory {
    std::vector<PodId> pods;
    std::vector<std::vector<PodId>> surplus;
    std::int32_t missing = 0;  // pods that do not exist yet, or that every node refuses for good
    GangId lacking = {};       // the first gang that lacks some: the demand's own or a partner
    std::int32_t missing_of_lacking = 0;
};
// `could_run(pod)`: some node does not refuse it as never.
[[nodiscard]] Mandatory mandatory_members(const Snapshot& snapshot,
                                          const Demand& demand,
                                          const std::function<bool(PodId)>& could_run);

}  // namespace reprieve
