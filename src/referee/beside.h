// Beside: a decision judged beside what the same scheduler has decided for others before it, and in the same moment.
//
// Room that was given away before is gone, also where its new owner does not run yet. Of what was decided in
// the same moment the order is not known: the decision was made in some state between "nothing of it is done" and "all
// of it is". All, those of no lower priority, and none of it are tried; fair in one of them is fair (decision 0062).
#pragma once

#include <string>
#include <vector>

#include "referee/judge.h"

namespace reprieve {

struct OtherDeed {
    std::string pod;        // "ns/name"
    std::string node;       // on which it is to run; empty: it was evicted
    std::string owner;      // the demand that it is, or was evicted for
    bool together = false;  // in the same moment; else before
};

[[nodiscard]] Result<Ruling> judge_beside(Rebuild& world,
                                          const EvictionCase& what,
                                          const std::vector<OtherDeed>& others,
                                          const SchedulerConfig& config,
                                          Time now);

}  // namespace reprieve
