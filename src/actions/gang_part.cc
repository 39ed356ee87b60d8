#include "actions/gang_part.h"

#include <fmt/format.h>

#include <algorithm>

namespace reprieve {

std::string part_of_gang(const Snapshot& s, const Unit& unit) {
    if (!unit.gang || unit.kind == UnitKind::kPod) return "";
    const GangRow& gang = s.gangs[unit.gang];
    // As it was before the plan: who goes for the same demand may have been taken already.
    const auto ran = static_cast<std::int64_t>(std::ranges::count_if(gang.pods, [&](PodId p) {
        return s.pods[p].state == PodState::kRunning || s.pods[p].state == PodState::kEvicted;
    }));
    if (unit.kind == UnitKind::kSafe)
        return ran < gang.min ? ", of a gang that is broken already" : ", surplus of its gang";
    if (gang.whole_root) return ", with all pods of its composite group";
    if (unit.count > 1 || ran == 1) {
        const auto gone = static_cast<std::int64_t>(
            std::ranges::count_if(gang.pods, [&](PodId p) { return s.pods[p].state == PodState::kEvicted; }));
        return unit.count + gone >= ran ? (ran > 1 ? ", its gang goes whole" : "")
                                        : fmt::format(", {} of the {} pods of its gang", unit.count, ran);
    }
    return ran > 1 ? fmt::format(", 1 of the {} pods of its gang", ran) : "";
}

}  // namespace reprieve
