// Why a demand stays unplaced: the sentence, the nodes by reason, and the certificate.
#pragma once

#include <vector>

#include "actions/desk.h"

namespace reprieve {

[[nodiscard]] Unplaced describe_unplaced(Desk& desk, const Demand& demand, PodId pod, const Served& served);
[[nodiscard]] Certificate describe_infeasible(Desk& desk,
                                              const Demand& demand,
                                              const Served& served,
                                              const std::vector<ActionConfig>& actions);

// A gang whose minResources exceed its queue's limits or what all nodes offer is not served; empty: they do not.
[[nodiscard]] std::string min_resources_excess(const Snapshot& snapshot,
                                               const Demand& demand,
                                               const Resources& offered);

// "ns/name" of a group that a pod names and nobody has seen: as a single pod it would be served by the wrong rules.
// Empty: there is none.
[[nodiscard]] std::string missing_group(const Snapshot& snapshot, const Demand& demand);

}  // namespace reprieve
