// OpenSplit: sets of units in which other pods of a gang are its surplus than those that its order calls so.
//
// In an open list every pod that its gang could spare is a SAFE unit; the WHOLE unit has the rest, perhaps nobody. More
// of them than the gang can spare may not go, unless the gang goes whole; whoever searches an open list asks for that.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/units.h"

namespace reprieve {

enum class Overdrawn {
    kNo,
    kGang,   // a gang loses more than it can spare and does not go whole
    kSingle  // a gang whose pods go one by one does; that is allowed, at a price which an open list cannot tell
};
[[nodiscard]] Overdrawn overdrawn(const Snapshot& snapshot, const UnitList& list, std::span<const std::uint32_t> gone);

// What breaks a budget by the order's split breaks it in every other one.
void copy_violations(std::span<const PodId> breakers, UnitList& open);

// The chosen units as a list of their own, each gang that goes whole as one unit.
void close_splits(UnitList& list, std::vector<std::uint32_t>& chosen);

}  // namespace reprieve
