// Among sets of units that cost the same.
#include <algorithm>
#include <map>
#include <tuple>

#include "search/gang_victims.h"

namespace reprieve {

// Single pods of one class on one node, which nothing but their starts and names tells apart: of those the less
// important ones go. The members find the same room, so nobody is placed for it.
void GangVictims::settle_alike(GangChoice& best) {
    const Snapshot& s = session_.snapshot;
    if (rules_.order->has(CostTerm::kLostWork)) return;
    using Kind = std::tuple<ClassId, NodeId, std::int32_t, std::int32_t, std::int32_t, QueueId>;
    std::map<Kind, std::vector<std::uint32_t>> alike;  // from least to most important
    for (auto at = importance_.rbegin(); at != importance_.rend(); ++at) {
        const Unit& unit = list_.units[*at];
        const PodId pod = list_.pods[unit.first];
        const PodRow& row = s.pods[pod];
        if (unit.kind != UnitKind::kPod || unit.count != 1 || row.has(kResizing) || !s.holds[pod].empty() ||
            !s.device_claims.of(pod).holds.empty())
            continue;
        alike[{row.cls, row.node, unit.priority, row.priority, unit.violations, row.queue}].push_back(*at);
    }
    std::vector<bool> goes(list_.units.size());
    for (std::uint32_t u : best.chosen)
        goes[u] = true;
    for (const auto& [kind, units] : alike) {
        const auto count = std::ranges::count_if(units, [&](std::uint32_t u) { return goes[u]; });
        for (std::size_t i = 0; i < units.size(); ++i)
            goes[units[i]] = i < static_cast<std::size_t>(count);
    }
    for (std::uint32_t u = 0; u < goes.size(); ++u) {
        if (goes[u]) take(u);
    }
    const std::vector<std::uint32_t> units = taken_units();
    if (units != best.chosen && fit_.passes() && vote(units)) {
        const Cost cost = cost_of(units);
        if (!(best.cost < cost)) {
            best.chosen = units;
            best.cost = cost;
        }
    }
    reset();
}

// Of sets that cost the same: fewest nodes for the members, then the first of them by name, then the less important
// victims. One victim is exchanged for another as long as that helps; where the units are many, only for one alike.
void GangVictims::settle_ties(GangChoice& best) {
    constexpr std::size_t kMostTiedUnits = 48;
    constexpr int kMostTries = 400;
    if (list_.units.size() > kMostTiedUnits) return settle_alike(best);
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
