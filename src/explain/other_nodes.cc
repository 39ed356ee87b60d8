#include "explain/other_nodes.h"

#include <algorithm>
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

}  // namespace

std::vector<OtherNode> other_nodes(Cluster& cluster, const SchedulerConfig& config, PodId pod, std::size_t most) {
    const NodeId own = cluster.snapshot().pods[pod].node;
    WhatIf world(cluster);
    world.change(cluster.pod(pod), unbound(cluster.pod(pod)));
    Snapshot& s = world.snapshot();
    Session session(cluster, config);
    Placer placer(session);
    std::vector<OtherNode> elsewhere;
    std::vector<OtherNode> nearby;
    std::set<DomainId> seen;
    const DomainId home = own ? home_domain(s, own) : DomainId();
    for (NodeId node : s.nodes_by_name) {
        if (node == own || !placer.fits(pod, node, View::kNow)) continue;
        const DomainId domain = home_domain(s, node);
        if (domain && !seen.insert(domain).second) continue;
        auto& list = domain == home ? nearby : elsewhere;
        if (list.size() < most)
            list.push_back({.node = node, .domain = domain ? s.words->str(s.domains.domains[domain].name) : ""});
    }
    elsewhere.insert(elsewhere.end(), nearby.begin(), nearby.end());
    if (elsewhere.size() > most) elsewhere.resize(most);
    return elsewhere;
}

}  // namespace reprieve
