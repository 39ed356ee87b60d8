#include "plugins/network_topology.h"

#include <fmt/format.h>

#include <algorithm>

namespace reprieve {
namespace {

// Nodes that members of the gang hold already.
std::vector<NodeId> pinned(const Snapshot& s, GangId gang) {
    std::vector<NodeId> out;
    for (PodId pod : s.gangs[gang].pods) {
        const PodRow& row = s.pods[pod];
        if (row.node && (row.state == PodState::kRunning || row.state == PodState::kPlaced || row.state == PodState::kNominated)) out.push_back(row.node);
    }
    return out;
}

std::int64_t free_pods(const Snapshot& s, const Domain& domain) {
    std::int64_t sum = 0;
    for (NodeId node : domain.nodes) sum += s.later.free(node, kCpu);
    return sum;
}

}  // namespace

SearchSpace network_search_space(const Snapshot& s, GangId id) {
    SearchSpace space;
    const GangRow& gang = s.gangs[id];
    const TopologyRule* rule = gang.fact != nullptr && gang.fact->topology ? &*gang.fact->topology : nullptr;
    if (rule == nullptr) {
        space.domains.push_back({});
        return space;
    }
    std::int32_t highest = rule->highest_tier.value_or(s.domains.tallest_tier() + 1);
    if (rule->highest_tier_name) {
        const auto named = std::ranges::find(s.domains.domains, rule->highest_tier_name, &Domain::tier_name);
        if (named == s.domains.domains.end()) {
            if (rule->hard) space.missing = fmt::format("topology tier {} does not exist", s.words->text(rule->highest_tier_name));
            if (rule->hard) return space;
        } else {
            highest = named->tier;
        }
    }
    const std::vector<NodeId> held = pinned(s, id);
    std::vector<std::pair<DomainId, std::int64_t>> found;
    for (DomainId d : IdRange<DomainId>(s.domains.domains.size())) {
        const Domain& domain = s.domains.domains[d];
        if (domain.label_key != rule->label_key) continue;
        if (rule->hard && !rule->label_key && domain.tier > highest) continue;
        if (!std::ranges::all_of(held, [&](NodeId n) { return std::ranges::find(domain.nodes, n) != domain.nodes.end(); })) continue;
        found.emplace_back(d, free_pods(s, domain));
    }
    std::ranges::sort(found, [&](const auto& a, const auto& b) {
        const Domain& x = s.domains.domains[a.first];
        const Domain& y = s.domains.domains[b.first];
        if (x.tier != y.tier) return x.tier < y.tier;
        if (a.second != b.second) return a.second < b.second;
        return s.words->text(x.name) < s.words->text(y.name);
    });
    for (const auto& [d, free] : found) {
        const Domain& domain = s.domains.domains[d];
        SearchDomain out{.name = s.words->str(domain.name), .domain = d, .tier = domain.tier, .nodes = domain.nodes};
        std::ranges::sort(out.nodes, {}, [&](NodeId n) { return s.nodes[n].rank; });
        if (!out.nodes.empty()) space.domains.push_back(std::move(out));
    }
    // The cluster itself is the domain above the tallest tier.
    if (!rule->hard || (!rule->label_key && highest > s.domains.tallest_tier())) space.domains.push_back({});
    return space;
}

}  // namespace reprieve
