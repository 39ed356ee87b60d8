// jobPreempt: a job's way in under its quotas, all members or none.
//
// Whoever may trigger it takes from its own quota by priority (a non-preemptible job within its minimum from any
// preemptible pod there) and gets back what other quotas borrowed. Pods that stand in the way on nodes and pods that
// hold the quota are searched together, so that afterwards nodes, quotas on the whole path and topology all hold.
// Works for single pods and without quotas, too: then by priority alone.
#pragma once

#include "actions/gang_evict.h"

namespace reprieve {

class JobPreempt {
public:
    JobPreempt(Desk& desk, const ActionConfig& action) : desk_(desk), action_(action), evict_(desk, action, nullptr) {}

    // REQUIRES: allocate failed for it.
    [[nodiscard]] Served serve(const Demand& demand);

private:
    [[nodiscard]] Mandatory keep_places(const Demand& demand, const Mandatory& members);
    // All who could go for it, wherever they run.
    [[nodiscard]] std::vector<PodId> candidates(const Attack& attack) const;
    [[nodiscard]] Served search(const Demand& demand, const Mandatory& members);

    Desk& desk_;
    const ActionConfig& action_;
    GangEvict evict_;
};

}  // namespace reprieve
