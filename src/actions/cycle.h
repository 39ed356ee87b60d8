// Cycle: one cycle of decisions over a snapshot: demands one by one, each trying the configured actions in turn.
//
// The next demand is named by queue order, then by the order of demands; so a lower demand never takes idle room that a
// higher one plans with. Nominations of earlier plans are served before any demand of no higher standing. The snapshot
// is as before when `run` returns: the Plan is all that remains.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "model/config.h"
#include "model/plan.h"
#include "state/cluster.h"

namespace reprieve {

// "ns/name" of replicas that serving has waited for in vain; the facts do not say since when it does.
using OverdueClaims = std::set<std::string>;

// REQUIRES: the cluster was refreshed. `id` is left empty; warnings are the cluster's and the configuration's.
// `only`: names ("name" or "ns/name") of pods or gangs to plan for; empty: all.
[[nodiscard]] Plan run_cycle(Cluster& cluster,
                             const SchedulerConfig& config,
                             const std::vector<std::string>& only = {},
                             const OverdueClaims& overdue = {});

}  // namespace reprieve
