// Among sets of units that cost the same.
#include <algorithm>
#include <tuple>

#include "search/gang_victims.h"

namespace reprieve {

// Of sets that cost the same: fewest nodes for the members, then the first of them by name, then the less important
// victims. One victim is exchanged for another as long as that helps.
void GangVictims::settle_ties(GangChoice& best) {
    constexpr std::size_t kMostTiedUnits = 48;
    constexpr int kMostTries = 400;
    if (list_.units.size() > kMostTiedUnits) return;
    std::vector<bool> linked(list_.units.size());
    for (const Unit& unit : list_.units) {
        if (unit.whole >= 0) linked[static_cast<std::size_t>(unit.whole)] = true;
    }
    const auto is_free = [&](std::uint32_t u) { return !linked[u] && list_.units[u].whole < 0; };
    const auto importance = [&] {
        std::vector<std::size_t> out;
        for (std::size_t i = 0; i < importance_.size(); ++i) {
            if (taken_[importance_[i]]) out.push_back(importance_.size() - i);
        }
        return out;
    };
    for (std::uint32_t u : best.chosen)
        take(u);
    const auto key = [&] {
        std::vector<std::uint32_t> places = fit_.places();
        return std::tuple(places.size(), std::move(places), importance());
    };
    auto standing = key();
    int tries = 0;
    for (bool better = true; better;) {
        better = false;
        for (std::uint32_t out : taken_units()) {
            if (!is_free(out) || better) continue;
            for (std::uint32_t in : importance_) {
                if (taken_[in] || !is_free(in) || list_.units[in].priority != list_.units[out].priority) continue;
                if (++tries > kMostTries) break;
                give(out);
                take(in);
                const std::vector<std::uint32_t> units = taken_units();
                if (fit_.passes() && vote(units) && cost_of(units) == best.cost) {
                    auto challenger = key();
                    if (std::get<0>(challenger) > 0 && challenger < standing) {
                        standing = std::move(challenger);
                        best.chosen = units;
                        better = true;
                        break;
                    }
                }
                give(in);
                take(out);
            }
        }
    }
    reset();
}

}  // namespace reprieve
