#include "explain/other_places.h"

#include <algorithm>
#include <optional>
#include <set>

#include "explain/levers.h"
#include "search/placement.h"

namespace reprieve {
namespace {

DomainId home_domain(const Snapshot& s, NodeId node) {
    DomainId best;
    for (DomainId id : s.domains.of_node[node]) {
        if (!best || s.domains.domains[id].nodes.size() < s.domains.domains[best].nodes.size()) best = id;
    }
    return best;
}

struct Area {
    DomainId domain;
    std::vector<NodeId> nodes;
};

// The nodes that none of them is on, by domain, in the order of names.
std::vector<Area> areas_without(const Snapshot& s, const std::set<NodeId>& own, bool one_pod) {
    std::vector<Area> out;
    for (NodeId node : s.nodes_by_name) {
        if (own.contains(node)) continue;
        const DomainId domain = home_domain(s, node);
        auto at = std::ranges::find(out, domain, &Area::domain);
        if (at == out.end() || (!domain && one_pod)) at = out.insert(out.end(), {.domain = domain, .nodes = {}});
        at->nodes.push_back(node);
    }
    return out;
}

// Each pod on the first node that takes it.
std::optional<std::vector<NodeId>> seats(Placer& placer, std::span<const PodId> pods, std::span<const NodeId> nodes) {
    std::vector<NodeId> out;
    for (PodId pod : pods) {
        const auto at = std::ranges::find_if(nodes, [&](NodeId node) { return placer.fits(pod, node, View::kNow); });
        if (at == nodes.end()) return std::nullopt;
        placer.put(pod, *at, View::kNow, 0);
        out.push_back(*at);
    }
    return out;
}

}  // namespace

std::vector<OtherPlace> other_places(Cluster& cluster,
                                     const SchedulerConfig& config,
                                     std::span<const PodId> pods,
                                     std::size_t most) {
    std::set<NodeId> own;
    std::vector<Pod> facts;
    for (PodId pod : pods) {
        if (const NodeId node = cluster.snapshot().pods[pod].node) own.insert(node);
        facts.push_back(cluster.pod(pod));
    }
    WhatIf world(cluster);
    for (const Pod& fact : facts)
        world.change(fact, unbound(fact));
    Snapshot& s = world.snapshot();
    Session session(cluster, config);
    Placer placer(session);
    std::set<DomainId> homes;
    for (NodeId node : own)
        homes.insert(home_domain(s, node));
    std::vector<Area> areas = areas_without(s, own, pods.size() == 1);
    std::ranges::stable_partition(areas, [&](const Area& area) { return !homes.contains(area.domain); });
    std::vector<OtherPlace> out;
    for (const Area& area : areas) {
        if (out.size() == most) break;
        const auto start = session.tx.checkpoint();
        auto found = seats(placer, pods, area.nodes);
        session.rollback(start);
        if (found)
            out.push_back({.nodes = std::move(*found),
                           .domain = area.domain ? s.words->str(s.domains.domains[area.domain].name) : ""});
    }
    return out;
}

}  // namespace reprieve
