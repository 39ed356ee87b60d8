#include "actions/nominations.h"

#include <algorithm>

#include "actions/soft_evictions.h"
#include "state/cluster.h"

namespace reprieve {

NodeId nominated_node(const Snapshot& s, PodId pod) {
    const StringId name = s.facts->pod(pod).nominated;
    return name ? s.facts->find_node(name) : NodeId();
}

NominationState nomination_state(const Snapshot& s, PodId pod, bool never_there) {
    const Pod& fact = s.facts->pod(pod);
    if (!fact.nominated) return NominationState::kNone;
    const NodeId node = nominated_node(s, pod);
    if (!node || never_there) return NominationState::kLost;
    const PodRow& row = s.pods[pod];
    const GangRow* gang = row.gang ? &s.gangs[row.gang] : nullptr;
    const bool as_gang = gang != nullptr && (gang->priority_from_group || gang->min > 0);
    const std::int32_t standing = as_gang ? gang->attack_priority : row.priority;
    const Gang* group = gang != nullptr ? gang->fact : nullptr;
    const auto named = [&](const std::string& uid) {
        const auto in = [&](const std::optional<PlanNote>& plan) {
            return plan && std::ranges::find(plan->victim_uids, uid) != plan->victim_uids.end();
        };
        return in(fact.more().plan) || (group != nullptr && in(group->plan));
    };
    const std::string owner = gang != nullptr && gang->min > 0 ? s.gang_name(row.gang) : s.pod_name(pod);
    const auto leaves_for_it = [&](PodId other) {
        const Pod& victim = s.facts->pod(other);
        if (named(victim.uid)) return true;
        if (const auto asked = soft_eviction_of(victim)) return asked->job == owner;
        return victim.disruption_target && s.pods[other].unit_priority < standing;
    };
    bool leaving = false;
    for (PodId other : s.node_pods[node]) {
        const PodState state = s.pods[other].state;
        if (state == PodState::kTerminating) leaving = leaving || leaves_for_it(other);
        if (state == PodState::kRunning && named(s.facts->pod(other).uid)) return NominationState::kInterrupted;
    }
    return leaving ? NominationState::kInFlight : NominationState::kIdle;
}

}  // namespace reprieve
