// allocate: places a demand in room that is free now, or that will be free once those already leaving are gone.
#pragma once

#include "actions/desk.h"

namespace reprieve {

// Single pods: the best node. Gangs: the missing members of the minimum together or not at all, then surplus that fits.
// What fits only later is nominated, without evictions.
[[nodiscard]] Served allocate(Desk& desk, const Demand& demand, ActionKind as = ActionKind::kAllocate);

}  // namespace reprieve
