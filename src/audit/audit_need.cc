// Need: no unit of victims could have stayed. Each is put back alone; its owner must then lack room.
//
// An eviction is called needless only on certainty: where doubt remains about the order of steps, about room held for
// replicas or resizes that the plan does not list, or about a share that is no fact, the eviction stands.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

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
    const bool whole = item.entry->unit == UnitKind::kWhole && judged.minimum(gang) >= 1 &&
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
    if (judged.config.plugins.quota.limit != QuotaLimit::kRuntime || !judged.row(pod).queue) return false;
    return std::ranges::any_of(judged.path(judged.row(pod).queue), [&](QueueId queue) {
        const Queue* fact = judged.snapshot.queues[queue].fact;
        return fact != nullptr && fact->is_quota;
    });
}

// Quotas that must stay within their minimums, since others gave back to a job of theirs.
std::set<QueueId> bound_to_minimums(const Case& judged) {
    std::set<QueueId> bound;
    for (const EvictedPod& victim : judged.evicted) {
        if (victim.action != ActionKind::kJobPreempt) continue;
        const auto& own = judged.placements_for(victim.entry->owner);
        const QueueId mine = own.empty() ? QueueId() : judged.row(own.front()->pod).queue;
        const QueueId theirs = judged.row(victim.pod).queue;
        if (!mine || !theirs || mine == theirs) continue;
        const auto levels = path_below(judged, mine, common_ancestor(judged, mine, theirs));
        bound.insert(levels.begin(), levels.end());
        bound.insert(mine);
    }
    return bound;
}

// The queue and those above it but the root of the tree, which is everybody's and tells nobody apart.
std::vector<QueueId> below_the_root(const Case& judged, PodId pod) {
    const QueueId queue = judged.row(pod).queue;
    if (!queue) return {};
    std::vector<QueueId> path = judged.path(queue);
    if (path.size() > 1) path.pop_back();
    return path;
}

std::set<QueueId> reclaiming(const Case& judged) {
    std::set<QueueId> found;
    for (const PlacedPod& item : judged.placed) {
        if (item.entry->action != to_text(ActionKind::kGangReclaim)) continue;
        const auto path = below_the_root(judged, item.pod);
        found.insert(path.begin(), path.end());
    }
    return found;
}

// Members of one gang that are all alike: any of them can stand for the missing ones, the others are surplus.
bool interchangeable(const Case& judged, const std::vector<const PlacedPod*>& pods) {
    const auto shape = [&](const PlacedPod* item) {
        const Pod& fact = judged.fact(item->pod);
        return std::tuple(
            judged.row(item->pod).gang, fact.spec, fact.labels, fact.role, judged.standings.own(item->pod));
    };
    return std::ranges::all_of(pods, [&](const PlacedPod* item) { return shape(item) == shape(pods.front()); });
}

// What a unit's return can change for a placed pod: the sums of its node, if somebody comes back there; the use of its
// queues; the company that its own rules or those of others speak of. The rest is as it was without the unit, which is
// asked once per pod. So a unit costs what it touches, not what the plan places.
class NeedJudge {
public:
    explicit NeedJudge(Scene scene)
        : scene_(std::move(scene)),
          judged_(scene_.judged()),
          bound_(bound_to_minimums(judged_)),
          reclaiming_(reclaiming(judged_)),
          fits_on_node_(judged_.placed.size()),
          keeps_devices_(judged_.placed.size()) {
        // Room for a resize may have been kept before others were served.
        for (const PodId pod : judged_.cluster.resizing())
            scene_.grow(pod);
    }

    void judge(Report& report) {
        for (const auto& [key, unit] : units_of(judged_)) {
            if (room_was_held_before(judged_, unit.action) || counts_for_others(unit)) continue;
            put_back(unit);
            if (is_needless(unit)) {
                report.add("needless",
                           judged_.name(unit.pods.front()),
                           fmt::format("{} fits without evicting it{}",
                                       unit.owner,
                                       unit.pods.size() > 1 ? " and the others of its unit" : ""));
            }
            for (const PodId pod : unit.pods)
                scene_.remove(pod);
        }
    }

private:
    // With the unit back, its queues use more: a reclaim for one of them might lose its right, and a quota that others
    // gave back to must not hold more than its minimum.
    bool counts_for_others(const VictimUnit& unit) const {
        return std::ranges::any_of(unit.pods, [&](PodId pod) {
            const QueueId queue = judged_.row(pod).queue;
            if (!queue) return false;
            const auto held = [](const std::set<QueueId>& some) {
                return [&some](QueueId q) { return some.contains(q); };
            };
            return (!bound_.empty() && std::ranges::any_of(judged_.path(queue), held(bound_))) ||
                   (!reclaiming_.empty() && std::ranges::any_of(below_the_root(judged_, pod), held(reclaiming_)));
        });
    }

    void put_back(const VictimUnit& unit) {
        touched_.clear();
        for (const PodId pod : unit.pods) {
            scene_.put_back(pod);
            if (const NodeId node = scene_.seat(pod).node) touched_.insert(node);
        }
    }

    bool is_needless(const VictimUnit& unit) {
        return leaves_gangs_whole(unit) && leaves_grants_whole(unit) && demand_fits(unit) && others_hold(unit);
    }

    // With the unit back, no gang may run with less than it needs.
    bool leaves_gangs_whole(const VictimUnit& unit) {
        std::set<GangId> gangs;
        for (const PodId pod : unit.pods) {
            if (const GangId gang = judged_.row(pod).gang) gangs.insert(gang);
        }
        return std::ranges::all_of(gangs, [&](GangId gang) {
            if (gang_is_whole(scene_, gang)) return true;
            const auto [at, fresh] = may_lose_members_.try_emplace(gang, false);
            if (fresh) at->second = may_lose_members(judged_, gang);
            return at->second;
        });
    }

    // With the unit back, none of its queues would hold more than it is granted.
    bool leaves_grants_whole(const VictimUnit& unit) const {
        return std::ranges::all_of(unit.pods, [&](PodId pod) { return exceeds_grant(scene_, pod).empty(); });
    }

    // Nobody came back to its node, and it shares no volume with other nodes: what was found for it there still holds.
    bool is_untouched(const PlacedPod& item) const {
        return !touched_.contains(item.node) && judged_.spec(item.pod).volumes.empty();
    }

    // Answers are remembered where the pods that are back cannot change them.
    template <class Ask>
    bool remember(std::vector<std::optional<bool>>& answers, const PlacedPod& item, Ask ask) {
        if (!is_untouched(item)) return ask();
        std::optional<bool>& answer = answers[static_cast<std::size_t>(&item - judged_.placed.data())];
        if (!answer) answer = ask();
        return *answer;
    }

    bool fits(const PlacedPod& item) {
        const bool here = remember(fits_on_node_, item, [&] {
            Findings findings;
            judge_fit_on_node(scene_, item, Certainty::kOfFit, findings);
            return findings.empty();
        });
        if (!here) return false;
        Findings findings;
        judge_queue_limits(scene_, item.pod, Certainty::kOfFit, findings);
        if (findings.empty()) judge_device_claims(scene_, item, Certainty::kOfFit, findings);
        if (findings.empty()) judge_affinity(scene_, item, Certainty::kOfFit, findings);
        if (findings.empty()) judge_spread(scene_, item, Certainty::kOfFit, findings);
        return findings.empty();
    }

    // Surplus members do not evict: it is enough if the gang reaches its minimum without those that do not fit.
    bool minimum_fits(GangId gang, std::vector<const PlacedPod*> own) {
        std::vector<const PlacedPod*> dropped;
        // Those who go can only make more room, so each is asked once more only after somebody went.
        const auto misfit = [&] { return std::ranges::find_if(own, [&](const auto* item) { return !fits(*item); }); };
        for (auto it = misfit(); it != own.end() && gang_is_whole(scene_, gang); it = misfit()) {
            scene_.remove((*it)->pod);
            touched_.insert((*it)->node);
            dropped.push_back(*it);
            own.erase(it);
        }
        const bool enough = gang_is_whole(scene_, gang);
        for (const PlacedPod* item : dropped)
            scene_.add({item->pod, item->node, item, false});
        return enough && !own.empty();
    }

    bool demand_fits(const VictimUnit& unit) {
        const Owner owner = judged_.owner(unit.owner);
        if (owner.pod && judged_.resizes(owner.pod)) {
            Findings findings;
            judge_resize(scene_, owner.pod, Certainty::kOfFit, findings);
            return findings.empty();
        }
        const auto& own = judged_.placements_for(unit.owner);
        if (own.empty() || limited_by_runtime(judged_, own.front()->pod)) return false;
        if (std::ranges::all_of(own, [&](const PlacedPod* item) { return fits(*item); })) return true;
        const auto surplus_preempts = [](const ActionConfig& action) { return action.surplus_preempts; };
        if (!owner.gang || !interchangeable(judged_, own)) return false;
        if (judged_.configured(ActionKind::kGangPreempt, surplus_preempts)) return false;
        return minimum_fits(owner.gang, own);
    }

    // Somebody else whom the plan places may live on the same eviction. They keep the devices they were given.
    bool others_hold(const VictimUnit& unit) {
        return std::ranges::all_of(judged_.placed, [&](const PlacedPod& item) {
            if (item.in_flight || item.owner() == unit.owner) return true;
            const bool devices = remember(keeps_devices_, item, [&] {
                Findings findings;
                judge_devices(scene_, item, Certainty::kOfFault, findings);
                return findings.empty();
            });
            return devices && fits(item);
        });
    }

    Scene scene_;
    const Case& judged_;
    const std::set<QueueId> bound_;
    const std::set<QueueId> reclaiming_;
    std::set<NodeId> touched_;                       // where pods are back, or surplus is left out
    std::vector<std::optional<bool>> fits_on_node_;  // by place among the placed
    std::vector<std::optional<bool>> keeps_devices_;
    std::map<GangId, bool> may_lose_members_;
};

}  // namespace

void judge_need(Scene later, Report& report) { NeedJudge(std::move(later)).judge(report); }

}  // namespace reprieve
