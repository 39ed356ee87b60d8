#include "actions/nominations.h"

#include <algorithm>

#include "actions/soft_evictions.h"
#include "state/cluster.h"

namespace reprieve {

NodeId nominated_node(const Snapshot& s, PodId pod) {
    const StringId name = s.facts->pod(pod).nominated;
    return name ? s.facts->find_node(name) : NodeId();
}

namespace {

// Whether a plan of the pod, or of its group, names this victim.
bool is_named(const Snapshot& s, PodId pod, const std::string& uid) {
    const auto in = [&](const std::optional<PlanNote>& plan) {
        return plan && std::ranges::find(plan->victim_uids, uid) != plan->victim_uids.end();
    };
    const GangId gang = s.pods[pod].gang;
    const Gang* group = gang ? s.gangs[gang].fact : nullptr;
    return in(s.facts->pod(pod).more().plan) || (group != nullptr && in(group->plan));
}

}  // namespace

LeavesFor leaves_for(const Snapshot& s, PodId leaving, PodId pod) {
    const PodRow& row = s.pods[pod];
    const GangRow* gang = row.gang ? &s.gangs[row.gang] : nullptr;
    const Pod& victim = s.facts->pod(leaving);
    if (is_named(s, pod, victim.uid)) return LeavesFor::kByName;
    if (const auto asked = soft_eviction_of(victim)) {
        const std::string owner = gang != nullptr && gang->min > 0 ? s.gang_name(row.gang) : s.pod_name(pod);
        return asked->job == owner ? LeavesFor::kByName : LeavesFor::kNobody;
    }
    const bool as_gang = gang != nullptr && (gang->priority_from_group || gang->min > 0);
    const std::int32_t standing = as_gang ? gang->attack_priority : row.priority;
    return victim.disruption_target && s.pods[leaving].unit_priority < standing ? LeavesFor::kByPriority
                                                                                : LeavesFor::kNobody;
}

NominationState nomination_state(const Snapshot& s, PodId pod, bool never_there) {
    if (!s.facts->pod(pod).nominated) return NominationState::kNone;
    const NodeId node = nominated_node(s, pod);
    if (!node || never_there) return NominationState::kLost;
    bool leaving = false;
    for (PodId other : s.node_pods[node]) {
        const PodState state = s.pods[other].state;
        if (state == PodState::kTerminating) leaving = leaving || leaves_for(s, other, pod) != LeavesFor::kNobody;
        if (state == PodState::kRunning && is_named(s, pod, s.facts->pod(other).uid))
            return NominationState::kInterrupted;
    }
    return leaving ? NominationState::kInFlight : NominationState::kIdle;
}

bool is_moved(const Snapshot& snapshot, PodId pod) {
    const NodeId promised = nominated_node(snapshot, pod);
    return promised && snapshot.pods[pod].state == PodState::kNominated && snapshot.pods[pod].node != promised;
}

}  // namespace reprieve
