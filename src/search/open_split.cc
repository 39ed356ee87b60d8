#include "search/open_split.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "search/surplus.h"
#include "state/cluster.h"

namespace reprieve {

bool overdrawn(const Snapshot& s, const UnitList& list, std::span<const std::uint32_t> gone) {
    std::map<GangId, std::vector<PodId>> lost;
    for (std::uint32_t at : gone) {
        const Unit& unit = list.units[at];
        if (std::ranges::find(list.singles, unit.gang, &UnitList::Single::gang) != list.singles.end()) continue;
        const bool whole =
            unit.whole >= 0 && std::ranges::find(gone, static_cast<std::uint32_t>(unit.whole)) != gone.end();
        if (unit.kind == UnitKind::kSafe && !whole) lost[unit.gang].push_back(list.pods[unit.first]);
    }
    return std::ranges::any_of(lost, [&](const auto& loss) {
        const auto& [gang, pods] = loss;
        std::vector<PodId> out;
        std::ranges::copy_if(
            pods, std::back_inserter(out), [&](PodId p) { return s.pods[p].state == PodState::kEvicted; });
        return !can_spare(s, gang, pods, out);
    });
}

bool Losses::breaks(const Unit& unit) {
    if (unit.kind != UnitKind::kSafe) return true;
    const auto single = std::ranges::find(left_, unit.gang, &UnitList::Single::gang);
    return single != left_.end() && !single->surplus.take(list_.pods[unit.first]);
}

void copy_violations(
    const Snapshot& s, const UnitList& closed, std::span<const PodId> breakers, bool strict, UnitList& open) {
    const auto settled = [&](PodId p) { return std::ranges::find(closed.pods, p) != closed.pods.end(); };
    std::vector<std::uint32_t> others;
    for (std::uint32_t u = 0; u < open.units.size(); ++u) {
        Unit& unit = open.units[u];
        unit.violations = static_cast<std::int32_t>(std::ranges::count_if(
            open.pods_of(unit), [&](PodId p) { return std::ranges::find(breakers, p) != breakers.end(); }));
        if (!strict && !s.budgets.empty() && std::ranges::none_of(open.pods_of(unit), settled)) others.push_back(u);
    }
    if (others.empty()) return;
    std::ranges::sort(others, [&](std::uint32_t a, std::uint32_t b) {
        return more_important(s, open, open.units[a], open.units[b]);
    });
    UnitList walked = closed;
    std::vector<std::uint32_t> order(closed.units.size());
    std::iota(order.begin(), order.end(), 0U);
    for (std::uint32_t u : others) {
        Unit unit = open.units[u];
        const auto pods = open.pods_of(unit);
        unit.first = static_cast<std::uint32_t>(walked.pods.size());
        walked.pods.insert(walked.pods.end(), pods.begin(), pods.end());
        order.push_back(static_cast<std::uint32_t>(walked.units.size()));
        walked.units.push_back(unit);
    }
    split_by_budget(s, walked, order);
    for (std::size_t i = 0; i < others.size(); ++i)
        open.units[others[i]].violations = walked.units[closed.units.size() + i].violations;
}

void close_splits(UnitList& list, std::vector<std::uint32_t>& chosen) {
    const auto goes = [&](std::int32_t unit) {
        return unit >= 0 && std::ranges::find(chosen, static_cast<std::uint32_t>(unit)) != chosen.end();
    };
    // Units stand in the order in which their gang offers them: the first ones are its surplus.
    std::vector<std::uint32_t> offered = chosen;
    std::ranges::sort(offered);
    Losses losses(list);
    for (std::uint32_t at : offered) {
        Unit& unit = list.units[at];
        if (unit.kind == UnitKind::kSafe && losses.breaks(unit)) unit.kind = UnitKind::kWhole;
    }
    UnitList closed;
    for (std::uint32_t at : chosen) {
        if (goes(list.units[at].whole)) continue;  // goes with its gang
        Unit unit = list.units[at];
        unit.first = static_cast<std::uint32_t>(closed.pods.size());
        unit.whole = -1;
        const auto own = list.pods_of(list.units[at]);
        closed.pods.insert(closed.pods.end(), own.begin(), own.end());
        for (std::uint32_t other : chosen) {
            const Unit& along = list.units[other];
            if (along.whole != static_cast<std::int32_t>(at)) continue;
            const auto pods = list.pods_of(along);
            closed.pods.insert(closed.pods.end(), pods.begin(), pods.end());
            unit.violations += along.violations;
            unit.start_us = std::min(unit.start_us, along.start_us);
        }
        unit.count = static_cast<std::uint32_t>(closed.pods.size()) - unit.first;
        closed.units.push_back(unit);
    }
    list = std::move(closed);
    chosen.resize(list.units.size());
    for (std::uint32_t i = 0; i < chosen.size(); ++i)
        chosen[i] = i;
}

}  // namespace reprieve
