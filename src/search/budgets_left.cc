#include "search/budgets_left.h"

#include <algorithm>

#include "state/budgets.h"

namespace reprieve {

std::int64_t& BudgetsLeft::left(BudgetId budget) {
    auto at = std::ranges::find(left_, budget, &std::pair<BudgetId, std::int64_t>::first);
    if (at == left_.end()) at = left_.insert(at, {budget, snapshot_.budgets[budget].left});
    return at->second;
}

bool BudgetsLeft::take(PodId pod) {
    bool allowed = true;
    for (BudgetId id : snapshot_.class_of(pod).budgets)
        allowed = (!takes_from(snapshot_, pod, id) || --left(id) >= 0) && allowed;
    return allowed;
}

bool BudgetsLeft::take_together(std::span<const PodId> pods) {
    auto before = left_;
    bool allowed = true;
    for (PodId pod : pods) {
        for (BudgetId id : snapshot_.class_of(pod).budgets)
            allowed = (!takes_from(snapshot_, pod, id) || --left(id) >= 0) && allowed;
    }
    if (!allowed) left_ = std::move(before);
    return allowed;
}

}  // namespace reprieve
