// Soft evictions: victims that were asked to go by an annotation and are left to an operator.
//
// Until they are gone they count as leaving. Where a deadline is configured, those that are still there after it are
// deleted, as long as whom they were to make room for still waits. If it does not wait any more, nobody goes for it.
#pragma once

#include <span>

#include "actions/desk.h"
#include "model/soft_eviction.h"

namespace reprieve {

// Adds to the plan the deletion of those whose time is over. `nominated`: everybody who waits for a place it was
// promised.
void delete_overdue(Desk& desk, const ActionConfig& action, std::span<const Demand> nominated);

// Takes back what was asked of pods for whoever does not wait any more.
void withdraw_needless(Desk& desk);

}  // namespace reprieve
