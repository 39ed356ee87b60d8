#include "actions/demands.h"

#include <algorithm>
#include <map>

#include "plugins/order.h"

namespace reprieve {

Demand single_demand(const Snapshot& s, PodId pod) {
    const PodRow& row = s.pods[pod];
    const GangRow* gang = row.gang ? &s.gangs[row.gang] : nullptr;
    return {.gang = {},
            .pods = {pod},
            .priority = gang != nullptr && gang->priority_from_group ? gang->attack_priority : row.priority,
            .queue = row.queue,
            .created = row.created,
            .nominated = s.facts->pod(pod).nominated.valid(),
            .never_preempts = row.has(kNeverPreempts) || (gang != nullptr && gang->never_preempts)};
}

std::vector<Demand> find_demands(const Cluster& cluster) {
    const Snapshot& s = cluster.snapshot();
    std::vector<Demand> out;
    std::map<GangId, std::size_t> gangs;
    for (PodId pod : cluster.pending()) {
        const PodRow& row = s.pods[pod];
        if (!row.gang || s.gangs[row.gang].min == 0) {
            out.push_back(single_demand(s, pod));
            continue;
        }
        const auto [it, fresh] = gangs.try_emplace(row.gang, out.size());
        if (fresh) {
            const GangRow& gang = s.gangs[row.gang];
            out.push_back({.gang = row.gang, .pods = {}, .priority = gang.attack_priority, .queue = row.queue, .created = row.created,
                           .nominated = false, .never_preempts = gang.never_preempts});
        }
        Demand& demand = out[it->second];
        demand.pods.push_back(pod);
        demand.created = std::min(demand.created, row.created);
        demand.nominated = demand.nominated || cluster.pod(pod).nominated.valid();
    }
    for (Demand& demand : out) std::ranges::sort(demand.pods, [&](PodId a, PodId b) { return pod_before(s, a, b); });
    return out;
}

Mandatory mandatory_members(const Snapshot& s, const Demand& demand) {
    const GangRow& gang = s.gangs[demand.gang];
    Mandatory out;
    std::int32_t need = std::max(0, gang.min - gang.live);
    std::vector<bool> taken(demand.pods.size());
    const auto take = [&](std::size_t i) {
        taken[i] = true;
        out.pods.push_back(demand.pods[i]);
        --need;
    };
    // Roles first: each role's own minimum, where the gang's minimum does not undercut them.
    if (gang.fact != nullptr) {
        std::int64_t sum = 0;
        for (const auto& [role, min] : gang.fact->role_minimums) sum += min;
        for (const auto& [role, min] : gang.fact->role_minimums) {
            if (gang.min < sum) break;
            std::int32_t live = 0;
            for (PodId p : gang.pods) {
                const PodState state = s.pods[p].state;
                if (s.facts->pod(p).role == role && (state == PodState::kRunning || state == PodState::kPlaced || state == PodState::kNominated)) ++live;
            }
            for (std::size_t i = 0; i < demand.pods.size() && live < min; ++i) {
                if (taken[i] || s.facts->pod(demand.pods[i]).role != role) continue;
                take(i);
                ++live;
            }
            if (live < min) out.missing += min - live;
        }
    }
    for (std::size_t i = 0; i < demand.pods.size() && need > 0; ++i) {
        if (!taken[i]) take(i);
    }
    out.missing = std::max(out.missing, need);
    std::ranges::sort(out.pods, [&](PodId a, PodId b) { return pod_before(s, a, b); });
    for (std::size_t i = 0; i < demand.pods.size(); ++i) {
        if (!taken[i]) out.surplus.push_back(demand.pods[i]);
    }
    return out;
}

}  // namespace reprieve
