// EvictionNews: which evictions of a plan are news. Most are assumed done when they are asked for; those of serving are
// a controller's to carry out and stand in every plan until that is seen. They are told and counted once.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/plan.h"

namespace reprieve {

class EvictionNews {
public:
    // Those that the last plan did not ask for.
    [[nodiscard]] std::vector<Eviction> take(const Plan& plan);

private:
    std::set<std::pair<std::string, EvictionMode>> asked_;  // by UID; of serving alone
};

}  // namespace reprieve
