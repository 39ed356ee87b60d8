#include "actions/allocate.h"

#include <fmt/format.h>

#include "actions/demands.h"
#include "actions/nominations.h"
#include "plugins/limits.h"
#include "plugins/network_topology.h"
#include "search/gang_placement.h"

namespace reprieve {
namespace {

Served allocate_pod(Desk& desk, const Demand& demand, ActionKind as) {
    const PodId pod = demand.first();
    const auto start = desk.session.tx.checkpoint();
    for (View view : {View::kNow, View::kLater}) {
        // A nomination of an earlier plan is tried first.
        NodeId node = nominated_node(desk.snapshot(), pod);
        if (!node || !desk.placer.fits(pod, node, view)) node = desk.placer.find(pod, view);
        if (!node) continue;
        desk.placer.put(pod, node, view, desk.plan.note({.action = as}));
        desk.session.commit(start);
        return {.done = true};
    }
    return {};
}

// Members that hold a nomination stay where they are nominated, if they still fit there.
bool keep_nominated(Desk& desk, std::span<const PodId> pods, View view, std::uint32_t note, std::vector<PodId>& rest) {
    for (PodId pod : pods) {
        const NodeId node = nominated_node(desk.snapshot(), pod);
        if (node && desk.placer.fits(pod, node, view)) {
            desk.placer.put(pod, node, view, note);
            desk.session.touch(node);
        } else {
            rest.push_back(pod);
        }
    }
    return true;
}

bool place_members(Desk& desk, const Mandatory& members, View view, std::span<const NodeId> within, std::uint32_t note) {
    const auto start = desk.session.tx.checkpoint();
    std::vector<PodId> rest;
    keep_nominated(desk, members.pods, view, note, rest);
    if (!rest.empty() && !GangPlacement(desk.session, desk.placer, view, within, note).place_all(rest)) {
        desk.session.rollback(start);
        return false;
    }
    for (PodId pod : members.surplus) {
        const NodeId node = desk.placer.find(pod, view, within);
        if (!node) continue;
        desk.placer.put(pod, node, view, note);
        desk.session.touch(node);
    }
    return true;
}

Served allocate_gang(Desk& desk, const Demand& demand, ActionKind as) {
    const Snapshot& s = desk.snapshot();
    const GangRow& gang = s.gangs[demand.gang];
    const Mandatory members = mandatory_members(s, demand);
    if (members.missing > 0) {
        return {.why_not = fmt::format("the gang needs {} members and {} of them do not exist yet", gang.min, members.missing)};
    }
    const SearchSpace space = network_search_space(s, demand.gang);
    if (!space.missing.empty()) return {.why_not = space.missing, .never = true};
    const auto start = desk.session.tx.checkpoint();
    for (View view : {View::kNow, View::kLater}) {
        for (const SearchDomain& domain : space.domains) {
            const std::uint32_t note = desk.plan.note({.action = as, .owner = owner_name(s, demand), .domain = domain.name});
            if (!place_members(desk, members, view, domain.nodes, note)) continue;
            desk.session.commit(start);
            return {.done = true};
        }
    }
    return {};
}

}  // namespace

Served allocate(Desk& desk, const Demand& demand, ActionKind as) { return demand.gang ? allocate_gang(desk, demand, as) : allocate_pod(desk, demand, as); }

std::string owner_name(const Snapshot& snapshot, const Demand& demand) {
    return demand.gang ? snapshot.gang_name(demand.gang) : snapshot.pod_name(demand.first());
}

}  // namespace reprieve
