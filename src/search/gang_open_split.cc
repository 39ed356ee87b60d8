// Other pods of a gang as its surplus than those that its order calls so.
#include <algorithm>

#include "search/gang_victims.h"

namespace reprieve {

// Votes and strict budgets go through the units in the order that the split belongs to: there it stays as it is.
void GangVictims::open_splits() {
    const bool voted = rules_.vote != nullptr && !rules_.vote_alone;
    if (!rules_.improve || rules_.attack.open_split || rules_.attack.local_only || voted ||
        rules_.pdb == PdbMode::kStrict)
        return;
    open_rules_ = rules_;
    open_rules_.attack.open_split = true;
    open_rules_.attack.open_single = true;
    open_rules_.breakers = &breakers_;
    open_ = std::make_unique<GangVictims>(session_, placer_, open_rules_, fit_.members(), seat_);
    feasible_ = open_->feasible_;
}

// Who breaks a budget was settled by the order's own split.
void GangVictims::take_over_violations() {
    copy_violations(*rules_.breakers, list_);
    std::ranges::stable_partition(importance_, [&](std::uint32_t u) { return list_.units[u].violations > 0; });
}

bool GangVictims::overdraws_singles() const {
    return rules_.attack.open_split && overdrawn(session_.snapshot, list_, taken_units()) == Overdrawn::kSingle;
}

// A split that is not the order's is worth it only if it costs less.
void GangVictims::search_other_splits(std::optional<GangChoice>& best) {
    std::optional<GangChoice> found = best;
    if (found) {
        found->bound = open_->bound_;
        found->exact = false;
    }
    open_->search_exactly(found);
    if (!found) return;
    if (best && !(found->cost < best->cost)) {
        best->bound = found->bound;
        best->exact = found->exact;
        return;
    }
    close_splits(found->list, found->chosen);
    best = std::move(found);
}

}  // namespace reprieve
