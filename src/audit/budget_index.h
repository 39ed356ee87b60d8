// BudgetIndex: which disruption budgets count the loss of a pod, without asking every budget.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "state/cluster.h"

namespace reprieve {

struct Case;

class BudgetIndex {
public:
    explicit BudgetIndex(const Case& judged);

    // In order of their ids.
    [[nodiscard]] std::vector<BudgetId> over(PodId pod) const;

private:
    using Pair = std::pair<StringId, StringId>;

    const Case& judged_;
    // By namespace: budgets that ask for one of certain values of a label stand under each of them, the others apart.
    std::map<StringId, std::map<Pair, std::vector<BudgetId>>> by_label_;
    std::map<StringId, std::vector<BudgetId>> others_;
};

}  // namespace reprieve
