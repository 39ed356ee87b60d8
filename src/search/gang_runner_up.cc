// What would be done if not the best.
#include <algorithm>

#include "search/gang_victims.h"

namespace reprieve {

// Whether it is barred, or would take along who is.
bool GangVictims::stays_put(std::uint32_t unit) const {
    if (!over_budget_.empty() && over_budget_[unit]) return true;
    return barred_ && (unit == *barred_ || list_.units[*barred_].whole == static_cast<std::int32_t>(unit));
}

// Nothing else was looked at on the way to the best: the next best way without one of those that go, the most
// important ones asked first.
void GangVictims::find_runner_up(std::optional<GangChoice>& choice) {
    GangChoice& best = *choice;
    int tries = 8;
    for (std::uint32_t unit : best.chosen) {
        if (best.runner_up || tries == 0) break;
        if (std::ranges::find(forced_, unit) != forced_.end()) continue;
        --tries;
        barred_ = unit;
        const std::optional<Cost> cost = plain_cost();
        if (cost && !(*cost < best.cost)) best.runner_up = cost;
    }
    barred_.reset();
}

std::optional<Cost> GangVictims::plain_cost() {
    std::optional<GangChoice> found;
    if (select_by_bundles()) {
        give_back();
        keep_best(found);
    }
    reset();
    return found ? std::optional(found->cost) : std::nullopt;
}

}  // namespace reprieve
