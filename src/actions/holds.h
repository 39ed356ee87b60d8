// holds: does everybody whom the plan has placed so far still fit where it is?
#pragma once

#include <set>
#include <span>

#include "actions/desk.h"

namespace reprieve {

// Pods that this plan has placed or nominated, as they stand now.
[[nodiscard]] std::set<PodId> placed_by_plan(const Desk& desk);

// Whether this one does: its queue's limits, every filter, the devices it was given.
[[nodiscard]] bool placement_holds(Desk& desk, PodId pod);

// Asks those on `nodes`, and those elsewhere whose rules reach beyond their node or whose queue is limited.
[[nodiscard]] bool placements_hold(Desk& desk, const std::set<PodId>& placed, const std::set<NodeId>& nodes);

}  // namespace reprieve
