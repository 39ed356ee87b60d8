#include "actions/evict_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "search/shared_claims.h"

namespace reprieve {
namespace {

EvictionMode eviction_mode(const ActionConfig& action) {
    switch (action.mode.value_or(EvictMode::kDelete)) {
        // Under strict budgets the API server is asked to enforce them, too.
        case EvictMode::kDelete:
            return action.pdb == PdbMode::kStrict ? EvictionMode::kEvict : EvictionMode::kDelete;
        case EvictMode::kEvict:
            return EvictionMode::kEvict;
        case EvictMode::kSoft:
            return EvictionMode::kSoft;
    }
    return EvictionMode::kDelete;
}

// What part of its gang the unit is: ", surplus of its gang", ", its gang goes whole", ", 2 of the 4 pods of its gang";
// empty: it is in no gang. Asked before the unit is evicted.
std::string part_of_gang(const Snapshot& s, const Unit& unit) {
    if (!unit.gang || unit.kind == UnitKind::kPod) return "";
    const GangRow& gang = s.gangs[unit.gang];
    // As it was before the plan: who goes for the same demand may have been taken already.
    const auto ran = static_cast<std::int64_t>(std::ranges::count_if(gang.pods, [&](PodId p) {
        return s.pods[p].state == PodState::kRunning || s.pods[p].state == PodState::kEvicted;
    }));
    if (unit.kind == UnitKind::kSafe)
        return ran + gang.done < gang.min ? ", of a gang that is broken already" : ", surplus of its gang";
    if (gang.whole_root) return ", with all pods of its composite group";
    if (unit.count > 1 || ran == 1) {
        const auto gone = static_cast<std::int64_t>(
            std::ranges::count_if(gang.pods, [&](PodId p) { return s.pods[p].state == PodState::kEvicted; }));
        return unit.count + gone >= ran ? (ran > 1 ? ", its gang goes whole" : "")
                                        : fmt::format(", {} of the {} pods of its gang", unit.count, ran);
    }
    return ran > 1 ? fmt::format(", 1 of the {} pods of its gang", ran) : "";
}

}  // namespace

void evict_unit(Desk& desk, const ActionConfig& action, const Unit& unit, std::span<const PodId> pods, Why why) {
    const Snapshot& s = desk.snapshot();
    const std::uint32_t note = desk.plan.note({.action = action.kind,
                                               .owner = std::move(why.owner),
                                               .unit = unit.kind,
                                               .group = unit.gang ? s.gang_name(unit.gang) : "",
                                               .mode = eviction_mode(action),
                                               .stage = std::move(why.stage),
                                               .violations = unit.violations,
                                               .priority = unit.priority,
                                               .reason = std::move(why.reason),
                                               .part = part_of_gang(s, unit),
                                               .claim = unit.claim,
                                               .whole_gang = is_whole_gang(s, unit),
                                               .detail = std::move(why.detail)});
    for (PodId pod : pods)
        desk.session.tx.evict(pod, note);
}

}  // namespace reprieve
