// Budgets: keeps status.disruptionsAllowed of every PodDisruptionBudget up to date, as Kubernetes' controller does.
#pragma once

#include <set>
#include <string>

#include "sim/store.h"

namespace reprieve {

class Budgets {
public:
    explicit Budgets(Store& store) : store_(store) {}

    void observe(SlotId slot);
    void act();

private:
    void update(SlotId budget);
    // How many pods the owners of these pods ask for.
    [[nodiscard]] std::int64_t expected(const std::vector<SlotId>& pods) const;

    Store& store_;
    std::set<std::string> dirty_;  // namespaces
};

}  // namespace reprieve
