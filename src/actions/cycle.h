// Cycle: one cycle of decisions over a snapshot: demands one by one, each trying the configured actions in turn.
//
// The next demand is named by queue order, then by the order of demands; so a lower demand never takes idle room that a
// higher one plans with. Nominations of earlier plans are served before any demand of no higher standing. The snapshot
// is as before when `run` returns: the Plan is all that remains.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "model/config.h"
#include "model/plan.h"
#include "state/cluster.h"

namespace reprieve {

// "ns/name" of replicas that serving has waited for in vain; the facts do not say since when it does.
using OverdueClaims = std::set<std::string>;

// A limit to the time of a cycle, for loops that must stay alive whatever the size of the cluster. Demands that were
// not reached are named in `plan.deferred`; as `first` they come before the others of their queue in the next cycle.
struct CycleLimit {
    std::function<bool()> is_over;  // asked before each demand; none: there is no limit
    std::set<std::string> first;    // gangs and pods, "ns/name"
};

// What a plan of a loop depends on beside the facts, the configuration and the clock; kept so that it can be repeated.
struct CycleInputs {
    OverdueClaims overdue;
    std::set<std::string> first;  // demands that the cycle before did not reach
    std::int64_t reached = -1;    // demands that were looked at before the time was up; -1: all
    bool last_resort = false;     // only pods that fit were placed
    friend bool operator==(const CycleInputs&, const CycleInputs&) = default;
};

// REQUIRES: the cluster was refreshed. `id` is left empty; warnings are the cluster's and the configuration's.
// `only`: names ("name" or "ns/name") of pods or gangs to plan for; empty: all.
[[nodiscard]] Plan run_cycle(Cluster& cluster,
                             const SchedulerConfig& config,
                             const std::vector<std::string>& only = {},
                             const OverdueClaims& overdue = {},
                             const CycleLimit& limit = {});

}  // namespace reprieve
