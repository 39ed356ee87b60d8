// OpenSplit: sets of units in which other pods of a gang are its surplus than those that its order calls so.
//
// In an open list every pod that its gang could spare is a SAFE unit; the WHOLE unit has the rest, perhaps nobody. More
// of them than the gang can spare may not go, unless the gang goes whole; whoever searches an open list asks for that.
// Where pods go one by one more of them may go, and each breaks the gang.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/units.h"

namespace reprieve {

// A gang that goes together loses more than it can spare and does not go whole.
[[nodiscard]] bool overdrawn(const Snapshot& snapshot, const UnitList& list, std::span<const std::uint32_t> gone);

// Units that go one after another: which of them break their gang, a pod without one included.
class Losses {
public:
    explicit Losses(const UnitList& list) : list_(list), left_(list.singles) {}

    [[nodiscard]] bool breaks(const Unit& unit);

private:
    const UnitList& list_;
    std::vector<UnitList::Single> left_;
};

// Who breaks a budget in an open list. What the order's own list settled stays as it is; pods that it does not have
// come after all of its pods, from most to least important, and find what those leave of each budget. Strict: nobody
// does, because no set that is allowed breaks a budget.
void copy_violations(
    const Snapshot& snapshot, const UnitList& closed, std::span<const PodId> breakers, bool strict, UnitList& open);

// The chosen units as a list of their own, each gang that goes whole as one unit, and pods that break theirs as WHOLE.
void close_splits(UnitList& list, std::vector<std::uint32_t>& chosen);

}  // namespace reprieve
