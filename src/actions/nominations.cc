#include "actions/nominations.h"

#include <algorithm>

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
    const std::int32_t standing = row.gang && s.gangs[row.gang].priority_from_group ? s.gangs[row.gang].attack_priority : row.priority;
    const Gang* group = row.gang ? s.gangs[row.gang].fact : nullptr;
    const auto named = [&](const std::string& uid) {
        const auto in = [&](const std::optional<PlanNote>& plan) { return plan && std::ranges::find(plan->victim_uids, uid) != plan->victim_uids.end(); };
        return in(fact.more().plan) || (group != nullptr && in(group->plan));
    };
    for (PodId other : s.node_pods[node]) {
        if (s.pods[other].state != PodState::kTerminating) continue;
        const Pod& leaving = s.facts->pod(other);
        if ((leaving.disruption_target && s.pods[other].unit_priority < standing) || named(leaving.uid)) return NominationState::kInFlight;
    }
    return NominationState::kIdle;
}

}  // namespace reprieve
