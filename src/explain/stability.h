// Stability: a plan must not lead to the next one.
//
// Three questions, each asked by following the plan in a closed world: while the victims leave, does anybody else go
// for the same demand? Victims that come back at once: do they cost anybody the room? And do cycles of that world, with
// victims always coming back, come to rest?
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/config.h"
#include "model/plan.h"
#include "state/cluster.h"

namespace reprieve {

struct StabilityOptions {
    std::int64_t cycles = 50;
    // Sees every plan that is made, with the cluster it was made for.
    std::function<void(const Cluster&, const Plan&)> watch;
};

struct StabilityReport {
    std::vector<std::string> violations;  // a sentence each; empty: stable
    std::int64_t cycles = 0;              // until two of them changed nothing; or all that were allowed
    std::int64_t evictions = 0;           // in them
    bool at_rest = false;

    [[nodiscard]] bool stable() const { return violations.empty(); }
};

// The cluster is as before when this returns, but for its digest.
[[nodiscard]] StabilityReport check_stability(Cluster& cluster,
                                              const SchedulerConfig& config,
                                              const StabilityOptions& options = {});

}  // namespace reprieve
