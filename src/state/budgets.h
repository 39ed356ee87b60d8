// Which disruption budgets an eviction takes from.
#pragma once

#include <algorithm>

#include "state/cluster.h"
#include "state/snapshot.h"

namespace reprieve {

// One that the API server has counted as disrupted already takes nothing.
[[nodiscard]] inline bool takes_from(const Snapshot& snapshot, PodId pod, BudgetId budget) {
    const auto& counted = snapshot.budgets[budget].fact->disrupted_pods;
    return counted.empty() || !std::ranges::binary_search(counted, snapshot.facts->pod(pod).name);
}

}  // namespace reprieve
