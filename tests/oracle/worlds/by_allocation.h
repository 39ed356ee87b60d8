// ByAllocation: a decision held against what `allocate` says of the same world once a set of pods is gone.
//
// For worlds with rules that only the engine's filters know. The engine says whether a demand fits, without evicting;
// who may go and what that costs is told here. So the filters are shared, the search for victims is not.
#pragma once

#include "judge.h"

namespace reprieve::worlds {

// REQUIRES: one demand, and no budgets that a plan may overdraw.
[[nodiscard]] Judgement judge_by_allocation(const World& world, const Decision& decision);

}  // namespace reprieve::worlds
