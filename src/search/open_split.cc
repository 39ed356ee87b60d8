#include "search/open_split.h"

#include <algorithm>
#include <map>

#include "search/surplus.h"
#include "state/cluster.h"

namespace reprieve {

Overdrawn overdrawn(const Snapshot& s, const UnitList& list, std::span<const std::uint32_t> gone) {
    std::map<GangId, std::vector<PodId>> lost;
    for (std::uint32_t at : gone) {
        const Unit& unit = list.units[at];
        const bool whole =
            unit.whole >= 0 && std::ranges::find(gone, static_cast<std::uint32_t>(unit.whole)) != gone.end();
        if (unit.kind == UnitKind::kSafe && !whole) lost[unit.gang].push_back(list.pods[unit.first]);
    }
    Overdrawn worst = Overdrawn::kNo;
    for (const auto& [gang, pods] : lost) {
        std::vector<PodId> out;
        std::ranges::copy_if(
            pods, std::back_inserter(out), [&](PodId p) { return s.pods[p].state == PodState::kEvicted; });
        if (can_spare(s, gang, pods, out)) continue;
        const Gang* fact = s.gangs[gang].fact;
        if (fact == nullptr || fact->disruption != DisruptionMode::kSingle) return Overdrawn::kGang;
        worst = Overdrawn::kSingle;
    }
    return worst;
}

void copy_violations(std::span<const PodId> breakers, UnitList& open) {
    for (Unit& unit : open.units) {
        unit.violations = static_cast<std::int32_t>(std::ranges::count_if(
            open.pods_of(unit), [&](PodId p) { return std::ranges::find(breakers, p) != breakers.end(); }));
    }
}

void close_splits(UnitList& list, std::vector<std::uint32_t>& chosen) {
    const auto goes = [&](std::int32_t unit) {
        return unit >= 0 && std::ranges::find(chosen, static_cast<std::uint32_t>(unit)) != chosen.end();
    };
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
