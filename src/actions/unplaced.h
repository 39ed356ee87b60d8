// Why a demand stays unplaced: the sentence, the nodes by reason, and the certificate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "actions/desk.h"

namespace reprieve {

[[nodiscard]] Unplaced describe_unplaced(Desk& desk, const Demand& demand, PodId pod, const Served& served);
[[nodiscard]] Certificate describe_infeasible(Desk& desk,
                                              const Demand& demand,
                                              const Served& served,
                                              const std::vector<ActionConfig>& actions);

// What all nodes offer together.
[[nodiscard]] Resources offered_by_all(const Cluster& cluster);

// That a pod's group, or a gang that its own starts only together with, does not exist: it would be served by the wrong
// rules. Empty: all exist.
[[nodiscard]] std::string missing_group(const Snapshot& snapshot, const Demand& demand);

// Refused whatever room there is: its group does not exist, its queue does not take it, or its minResources exceed the
// queue's limits or what all nodes offer. Nullopt: the actions decide.
[[nodiscard]] std::optional<Served> refused_at_once(const Snapshot& snapshot,
                                                    const Demand& demand,
                                                    const Resources& offered);

// Each action that has something to say is heard, once. The refusal is proven if each of them is.
void add_refusal(Served& all, const Served& served);

// Pods that must not be placed, whatever room there is, are no demand; people are told why.
void report_held(Desk& desk, const Cluster& cluster, const std::vector<std::string>& only);
// A demand for which there is no time left in this cycle. What was promised to it stays promised.
void report_deferred(Desk& desk, const Demand& demand);

}  // namespace reprieve
