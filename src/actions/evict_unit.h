// evict_unit: the one way in which an action evicts a unit: every pod of it, with a note that says why.
#pragma once

#include <span>
#include <string>

#include "actions/desk.h"
#include "model/config.h"
#include "search/units.h"

namespace reprieve {

// Why a unit goes. Everything else that the plan prints about an eviction follows from the unit and the action.
struct Why {
    std::string owner;   // for whom; empty: for nobody by name
    std::string reason;  // who makes room for whom, by which rule
    std::string detail;  // how the choice was made
    std::string stage;   // of queueBalance
};

void evict_unit(Desk& desk, const ActionConfig& action, const Unit& unit, std::span<const PodId> pods, Why why);

}  // namespace reprieve
