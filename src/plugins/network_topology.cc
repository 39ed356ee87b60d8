#include "plugins/network_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "state/cluster.h"
#include "state/sub_groups.h"

namespace reprieve {
namespace {

bool holds_place(const PodRow& row) {
    return row.node &&
           (row.state == PodState::kRunning || row.state == PodState::kPlaced || row.state == PodState::kNominated);
}

std::int64_t free_cpu(const Snapshot& s, std::span<const NodeId> nodes) {
    std::int64_t sum = 0;
    for (NodeId node : nodes)
        sum += std::max<std::int64_t>(s.later.free(node, kCpu), 0);
    return sum;
}

// What a rule's tiers are tiers of, and the highest that it allows; nullopt: it names one that does not exist.
struct Tiers {
    bool levels = false;  // of labels; else of HyperNodes
    std::int32_t highest = 0;
};

std::optional<Tiers> tiers_of(const Snapshot& s, const TopologyRule& rule) {
    const auto& domains = s.domains.domains;
    const auto is_hyper_node = [](const Domain& d) { return !d.label_key; };
    if (rule.highest_tier_name) {
        for (bool levels : {false, true}) {
            for (const Domain& d : domains) {
                if (d.tier_name == rule.highest_tier_name && (levels ? d.is_level : is_hyper_node(d)))
                    return Tiers{levels, d.tier};
            }
        }
        return std::nullopt;
    }
    const bool levels = std::ranges::none_of(domains, is_hyper_node) && std::ranges::any_of(domains, &Domain::is_level);
    return Tiers{levels, rule.highest_tier.value_or(s.domains.tallest_tier(levels) + 1)};
}

// Domains that the rule allows, that contain all nodes `held` and lie inside `inside` (empty: anywhere); those that
// contain what an earlier plan promised come first.
SearchSpace space_of(const Snapshot& s,
                     const TopologyRule& rule,
                     std::span<const NodeId> held,
                     std::span<const NodeId> promised,
                     std::span<const NodeId> inside) {
    SearchSpace space{.soft = !rule.hard};
    const std::optional<Tiers> tiers = tiers_of(s, rule);
    if (!tiers && rule.hard) {
        space.missing = fmt::format("topology tier {} does not exist", s.words->text(rule.highest_tier_name));
        return space;
    }
    std::vector<bool> within(s.nodes.size(), inside.empty());
    for (NodeId node : inside)
        within[node.index()] = true;
    struct Found {
        DomainId domain;
        std::vector<NodeId> nodes;
        std::int64_t free = 0;
        bool promised = false;
    };
    std::vector<Found> found;
    for (DomainId d : IdRange<DomainId>(s.domains.domains.size())) {
        const Domain& domain = s.domains.domains[d];
        const bool levels = !rule.label_key && tiers && tiers->levels;
        if (levels ? !domain.is_level : domain.label_key != rule.label_key) continue;
        if (rule.hard && !rule.label_key && domain.tier > tiers->highest) continue;
        const auto contains = [&](NodeId n) { return std::ranges::find(domain.nodes, n) != domain.nodes.end(); };
        if (!std::ranges::all_of(held, contains)) continue;
        Found f{.domain = d, .nodes = {}, .promised = !promised.empty() && std::ranges::all_of(promised, contains)};
        std::ranges::copy_if(domain.nodes, std::back_inserter(f.nodes), [&](NodeId n) { return within[n.index()]; });
        // A domain that reaches beyond the gang's own is no tighter than it.
        if (f.nodes.empty() ||
            (!inside.empty() && f.nodes.size() < domain.nodes.size() && f.nodes.size() == inside.size()))
            continue;
        f.free = free_cpu(s, f.nodes);
        std::ranges::sort(f.nodes, {}, [&](NodeId n) { return s.nodes[n].rank; });
        found.push_back(std::move(f));
    }
    std::ranges::sort(found, [&](const Found& a, const Found& b) {
        const Domain& x = s.domains.domains[a.domain];
        const Domain& y = s.domains.domains[b.domain];
        if (a.promised != b.promised) return a.promised;
        if (x.tier != y.tier) return x.tier < y.tier;
        if (a.free != b.free) return a.free < b.free;
        return s.words->text(x.name) < s.words->text(y.name);
    });
    for (Found& f : found) {
        const Domain& domain = s.domains.domains[f.domain];
        space.domains.push_back({.name = s.words->str(domain.name),
                                 .domain = f.domain,
                                 .tier = domain.tier,
                                 .promised = f.promised,
                                 .nodes = std::move(f.nodes)});
    }
    // The cluster itself is the domain above the tallest tier.
    const std::int32_t tallest = s.domains.tallest_tier(tiers && tiers->levels);
    if (!rule.hard || (!rule.label_key && tiers->highest > tallest))
        space.domains.push_back({.tier = tallest + 1, .nodes = {inside.begin(), inside.end()}});
    return space;
}

}  // namespace

SearchSpace network_search_space(const Snapshot& s, GangId id) {
    const Gang* fact = id ? s.gangs[id].fact : nullptr;
    if (fact == nullptr || !fact->topology) return {.domains = {SearchDomain{}}};
    std::vector<NodeId> held;
    for (PodId pod : s.gangs[id].pods) {
        if (holds_place(s.pods[pod])) held.push_back(s.pods[pod].node);
    }
    std::vector<NodeId> promised;
    for (PodId pod : s.gangs[id].pods) {
        const StringId name = s.pods[pod].state == PodState::kPending ? s.facts->pod(pod).nominated : StringId();
        if (const NodeId node = name ? s.facts->find_node(name) : NodeId()) promised.push_back(node);
    }
    return space_of(s, *fact->topology, held, promised, {});
}

SearchSpace sub_group_space(
    const Snapshot& s, GangId gang, const SubGroupKey& key, const TopologyRule& rule, const SearchDomain& inside) {
    std::vector<NodeId> held;
    for (PodId pod : s.gangs[gang].pods) {
        if (holds_place(s.pods[pod]) && sub_group_of(s, pod) == key) held.push_back(s.pods[pod].node);
    }
    return space_of(s, rule, held, {}, inside.nodes);
}

}  // namespace reprieve
