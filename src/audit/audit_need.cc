// Need: no unit of victims could have stayed. Each is put back alone; its owner must then lack room.
//
// An eviction is called needless only on proof: where doubt remains about the order of steps, about room held for
// replicas or resizes that the plan does not list, or about a share that is no fact, the eviction stands.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "audit/rules.h"

namespace reprieve {
namespace {

struct VictimUnit {
    std::string owner;
    ActionKind action = ActionKind::kPreempt;
    std::vector<PodId> pods;
};

// Pods with equal keys come back together or not at all.
std::string unit_key(const Case& judged, const EvictedPod& item) {
    const GangId gang = judged.row(item.pod).gang;
    if (!gang) return item.entry->pod;
    const GangRow& row = judged.snapshot.gangs[gang];
    if (row.whole_root) return fmt::format("composite {}", row.whole_root.value());
    const bool whole = item.entry->unit == UnitKind::kWhole && row.min >= 1 &&
                       (row.fact == nullptr || row.fact->disruption != DisruptionMode::kSingle);
    return whole || row.one_unit() ? fmt::format("gang {}", judged.snapshot.gang_name(gang)) : item.entry->pod;
}

std::map<std::pair<std::string, std::string>, VictimUnit> units_of(const Case& judged) {
    std::map<std::pair<std::string, std::string>, VictimUnit> units;
    for (const EvictedPod& item : judged.evicted) {
        if (!item.action || !serves_a_demand(*item.action) || judged.leaves(item.pod)) continue;
        VictimUnit& unit = units[{item.entry->owner, unit_key(judged, item)}];
        unit.owner = item.entry->owner;
        unit.action = *item.action;
        unit.pods.push_back(item.pod);
    }
    return units;
}

// With the unit back, no gang may run with less than it needs.
bool leaves_gangs_whole(const Scene& scene, const VictimUnit& unit) {
    return std::ranges::all_of(unit.pods, [&](PodId pod) {
        const GangId gang = scene.judged().row(pod).gang;
        return !gang || may_lose_members(scene.judged(), gang) ||
               gang_lacks(scene.judged(), gang, gang_members(scene, gang)).empty();
    });
}

// Replicas get room by their own action; how much it held when later actions looked is not in the plan.
bool room_was_held_before(const Case& judged, ActionKind action) {
    if (judged.cluster.servings().size() == 0 && judged.plan.matches.empty()) return false;
    for (const ActionConfig& item : judged.actions) {
        if (item.kind == ActionKind::kServingPreempt) return true;
        if (item.kind == action) return false;
    }
    return false;
}

// Limited by a computed share, an owner may lack what facts alone do not show.
bool limited_by_runtime(const Case& judged, PodId pod) {
    if (judged.config.plugins.quota_limit != QuotaLimit::kRuntime || !judged.row(pod).queue) return false;
    return std::ranges::any_of(judged.snapshot.queue_path[judged.row(pod).queue], [&](QueueId queue) {
        const Queue* fact = judged.snapshot.queues[queue].fact;
        return fact != nullptr && fact->is_quota;
    });
}

// With the unit back, a quota holds more that must stay within its minimum, since others gave back to a job of it.
bool counts_for_a_return(const Case& judged, const VictimUnit& unit) {
    std::set<QueueId> bound;
    for (const EvictedPod& victim : judged.evicted) {
        const auto own = judged.placements_for(victim.entry->owner);
        if (victim.action != ActionKind::kJobPreempt || own.empty()) continue;
        const QueueId mine = judged.row(own.front()->pod).queue;
        const QueueId theirs = judged.row(victim.pod).queue;
        if (!mine || !theirs || mine == theirs) continue;
        const auto levels = path_below(judged, mine, common_ancestor(judged, mine, theirs));
        bound.insert(levels.begin(), levels.end());
        bound.insert(mine);
    }
    return std::ranges::any_of(unit.pods, [&](PodId pod) {
        const QueueId queue = judged.row(pod).queue;
        return queue && std::ranges::any_of(judged.snapshot.queue_path[queue],
                                            [&](QueueId above) { return bound.contains(above); });
    });
}

// With the unit back, its queue uses more, and a reclaim for that queue might lose its right.
bool counts_for_a_reclaim(const Case& judged, const VictimUnit& unit) {
    // The root of a tree is everybody's: it tells nobody apart.
    const auto above = [&](PodId pod) {
        std::set<QueueId> found;
        const QueueId queue = judged.row(pod).queue;
        if (!queue) return found;
        const auto& path = judged.snapshot.queue_path[queue];
        found.insert(path.begin(), path.end());
        if (path.size() > 1) found.erase(path.back());
        return found;
    };
    for (const PlacedPod& item : judged.placed) {
        if (item.entry->action != to_text(ActionKind::kGangReclaim)) continue;
        const std::set<QueueId> theirs = above(item.pod);
        for (const PodId pod : unit.pods) {
            if (std::ranges::any_of(above(pod), [&](QueueId q) { return theirs.contains(q); })) return true;
        }
    }
    return false;
}

// With the unit back, none of its queues would hold more than it is granted.
bool leaves_grants_whole(const Scene& scene, const VictimUnit& unit) {
    return std::ranges::all_of(unit.pods, [&](PodId pod) { return exceeds_grant(scene, pod).empty(); });
}

bool fits(const Scene& scene, const PlacedPod& placed) {
    Findings findings;
    judge_fit(scene, placed, Proof::kOfFit, findings);
    return findings.empty();
}

// Members of one gang that are all alike: any of them can stand for the missing ones, the others are surplus.
bool interchangeable(const Case& judged, const std::vector<const PlacedPod*>& pods) {
    const auto shape = [&](const PlacedPod* item) {
        const Pod& fact = judged.fact(item->pod);
        return std::tuple(
            judged.row(item->pod).gang, fact.spec, fact.labels, fact.role, judged.row(item->pod).priority);
    };
    return std::ranges::all_of(pods, [&](const PlacedPod* item) { return shape(item) == shape(pods.front()); });
}

// Surplus members do not evict: it is enough if the gang reaches its minimum without those that do not fit.
bool minimum_fits(Scene& scene, GangId gang, std::vector<const PlacedPod*> own) {
    std::vector<const PlacedPod*> dropped;
    const auto misfit = [&] {
        return std::ranges::find_if(own, [&](const PlacedPod* item) { return !fits(scene, *item); });
    };
    for (auto it = misfit(); it != own.end(); it = misfit()) {
        scene.remove((*it)->pod);
        dropped.push_back(*it);
        own.erase(it);
    }
    const bool enough = gang_lacks(scene.judged(), gang, gang_members(scene, gang)).empty();
    for (const PlacedPod* item : dropped)
        scene.add({item->pod, item->node, item, false});
    return enough && !own.empty();
}

bool demand_fits(Scene& scene, const VictimUnit& unit) {
    const Case& judged = scene.judged();
    const Owner owner = judged.owner(unit.owner);
    if (owner.pod && judged.resizes(owner.pod)) {
        Findings findings;
        judge_resize(scene, owner.pod, Proof::kOfFit, findings);
        return findings.empty();
    }
    const auto own = judged.placements_for(unit.owner);
    if (own.empty() || limited_by_runtime(judged, own.front()->pod)) return false;
    if (std::ranges::all_of(own, [&](const PlacedPod* item) { return fits(scene, *item); })) return true;
    const auto surplus_preempts = [](const ActionConfig& action) { return action.surplus_preempts; };
    if (!owner.gang || !interchangeable(judged, own)) return false;
    if (judged.configured(ActionKind::kGangPreempt, surplus_preempts)) return false;
    return minimum_fits(scene, owner.gang, own);
}

// Somebody else whom the plan places may live on the same eviction. They keep the devices they were given.
bool others_hold(const Scene& scene, const VictimUnit& unit) {
    return std::ranges::all_of(scene.judged().placed, [&](const PlacedPod& item) {
        if (item.in_flight || item.owner() == unit.owner) return true;
        Findings findings;
        judge_devices(scene, item, Proof::kOfFault, findings);
        return findings.empty() && fits(scene, item);
    });
}

}  // namespace

void judge_need(const Scene& later, Report& report) {
    const Case& judged = later.judged();
    Scene scene = later;
    // Room for a resize may have been kept before others were served.
    for (const PodId pod : judged.cluster.resizing())
        scene.grow(pod);
    for (const auto& [key, unit] : units_of(judged)) {
        if (room_was_held_before(judged, unit.action) || counts_for_a_reclaim(judged, unit) ||
            counts_for_a_return(judged, unit))
            continue;
        for (const PodId pod : unit.pods)
            scene.put_back(pod);
        if (leaves_gangs_whole(scene, unit) && leaves_grants_whole(scene, unit) && demand_fits(scene, unit) &&
            others_hold(scene, unit)) {
            report.add("needless",
                       judged.name(unit.pods.front()),
                       fmt::format("{} fits without evicting it{}",
                                   unit.owner,
                                   unit.pods.size() > 1 ? " and the others of its unit" : ""));
        }
        for (const PodId pod : unit.pods)
            scene.remove(pod);
    }
}

}  // namespace reprieve
