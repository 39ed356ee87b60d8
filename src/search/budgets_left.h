// BudgetsLeft: what disruption budgets still allow while pods go one after another, on top of what the plan has spent.
//
// Two questions are asked of a budget. Where budgets may be broken: which pods break one? There a pod takes from all
// its budgets, also from those that it does not break, as with kube-scheduler. In strict mode: may these pods go
// together?
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "state/snapshot.h"

namespace reprieve {

class BudgetsLeft {
public:
    explicit BudgetsLeft(const Snapshot& snapshot) : snapshot_(snapshot) {}

    // Takes the pod. False: it breaks a budget.
    bool take(PodId pod);
    // Takes all of them, or nobody where a budget would be overdrawn.
    bool take_together(std::span<const PodId> pods);

private:
    [[nodiscard]] std::int64_t& left(BudgetId budget);

    const Snapshot& snapshot_;
    std::vector<std::pair<BudgetId, std::int64_t>> left_;  // of those that were asked
};

}  // namespace reprieve
