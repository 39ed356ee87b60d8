#include "actions/holds.h"

#include <algorithm>

#include "search/placement_stands.h"

namespace reprieve {

std::set<PodId> placed_by_plan(const Desk& desk) {
    std::set<PodId> placed;
    for (const Op& op : desk.session.tx.journal()) {
        const PodState state = desk.session.snapshot.pods[op.pod].state;
        if (state == PodState::kPlaced || state == PodState::kNominated) placed.insert(op.pod);
    }
    return placed;
}

bool placement_holds(Desk& desk, PodId pod) { return placement_stands(desk.session, pod); }

bool placements_hold(Desk& desk, const std::set<PodId>& placed, const std::set<NodeId>& nodes) {
    const Snapshot& s = desk.session.snapshot;
    return std::ranges::all_of(placed, [&](PodId pod) {
        const bool local = desk.session.filters.node_local(s, s.class_of(pod)) &&
                           !desk.session.limits.bind(pod, s.class_of(pod).requests);
        return (local && !nodes.contains(s.pods[pod].node)) || placement_holds(desk, pod);
    });
}

}  // namespace reprieve
