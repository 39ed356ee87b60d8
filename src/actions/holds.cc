#include "actions/holds.h"

#include <algorithm>

namespace reprieve {
namespace {

// The very devices it was given, not just some.
bool devices_hold(const Snapshot& s, PodId pod, NodeId node) {
    if (s.holds[pod].empty()) return true;
    const std::vector<Device>& devices = s.devices[node];
    const std::vector<DeviceUse>& use = s.later.use(node).devices;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const bool over = use[i].whole > 1 || (use[i].whole == 1 && use[i].shares > 0) ||
                          use[i].milli > kMilliPerDevice || (use[i].memory > devices[i].memory && use[i].shares > 0);
        if (over) return false;
    }
    return true;
}

}  // namespace

std::set<PodId> placed_by_plan(const Desk& desk) {
    std::set<PodId> placed;
    for (const Op& op : desk.session.tx.journal()) {
        const PodState state = desk.session.snapshot.pods[op.pod].state;
        if (state == PodState::kPlaced || state == PodState::kNominated) placed.insert(op.pod);
    }
    return placed;
}

bool placement_holds(Desk& desk, PodId pod) {
    const Snapshot& s = desk.session.snapshot;
    Transaction& tx = desk.session.tx;
    const NodeId node = s.pods[pod].node;
    const auto mark = tx.checkpoint();
    tx.unplace(pod);
    const Candidate candidate(s, pod);
    const bool fits = desk.session.limits.admit(s.later, pod) &&
                      desk.session.filters.check_view(candidate, s.later, s.later, node).fits();
    tx.rollback(mark);
    return fits && devices_hold(s, pod, node);
}

bool placements_hold(Desk& desk, const std::set<PodId>& placed, const std::set<NodeId>& nodes) {
    const Snapshot& s = desk.session.snapshot;
    return std::ranges::all_of(placed, [&](PodId pod) {
        const bool local = desk.session.filters.node_local(s, s.class_of(pod)) &&
                           !desk.session.limits.bind(pod, s.class_of(pod).requests);
        return (local && !nodes.contains(s.pods[pod].node)) || placement_holds(desk, pod);
    });
}

}  // namespace reprieve
