// Scores by preference: soft taints, preferred nodes, preferred pods, soft spread, images already there.
#include <algorithm>
#include <cmath>

#include "plugins/score.h"
#include "state/cluster.h"

namespace reprieve {
namespace {

constexpr std::int64_t kMebibyte = 1024 * 1024;
constexpr std::int64_t kLeastImageBytes = 23 * kMebibyte;
constexpr std::int64_t kMostImageBytes = 1000 * kMebibyte;

// ln(n) in thousandths, from a table: the same on every machine.
std::int64_t log_milli(std::size_t n) {
    constexpr std::int64_t kLn2Micro = 693'147;
    // ln(n) = k ln2 + ln(1 + f) with f in [0, 1); the series is taken to enough terms for thousandths.
    std::size_t power = 0;
    while ((std::size_t{2} << power) <= n)
        ++power;
    const auto base = static_cast<std::int64_t>(std::size_t{1} << power);
    const std::int64_t f =
        (static_cast<std::int64_t>(n) - base) * 1'000'000 / (static_cast<std::int64_t>(n) + base);  // (x-1)/(x+1)
    std::int64_t term = f;
    std::int64_t sum = 0;
    for (std::int64_t k = 1; k <= 11; k += 2) {
        sum += term / k;
        term = term * f / 1'000'000 * f / 1'000'000;
    }
    return (static_cast<std::int64_t>(power) * kLn2Micro + 2 * sum) / 1000;
}

}  // namespace

std::int64_t score_untolerated_preferences(const Candidate& c, NodeId node) {
    return std::ranges::count_if(c.snapshot.facts->node(node)->taints, [&](const Taint& t) {
        return t.effect == TaintEffect::kPreferNoSchedule && !tolerates(c.spec, t);
    });
}

std::int64_t score_node_preference(const Candidate& c, NodeId node) {
    const Node& fact = *c.snapshot.facts->node(node);
    std::int64_t sum = 0;
    for (const PreferredNodeTerm& p : c.spec.preferred_nodes) {
        if (p.term.matches(fact.labels, fact.name, *c.snapshot.words)) sum += p.weight;
    }
    return sum;
}

std::int64_t score_pod_preference(const Candidate& c, const Occupancy& view, NodeId node) {
    const auto domain_of = [&](TermId term) {
        return c.snapshot.topology.domain(c.snapshot.terms[term].key, node.index());
    };
    std::int64_t sum = 0;
    for (const ClassPull& p : c.cls.preferred) {
        if (const std::int32_t d = domain_of(p.term); d != TopologyIndex::kNoDomain)
            sum += p.weight * view.matching(p.term, d);
    }
    for (TermId term : c.cls.matched) {
        if (!c.snapshot.terms[term].key || !view.pulls(term)) continue;
        if (const std::int32_t d = domain_of(term); d != TopologyIndex::kNoDomain) sum += view.pull(term, d);
    }
    return sum;
}

// Per constraint: pods in the domain, weighted by how many domains there are; fewer is better.
void score_soft_spread(const Candidate& c,
                       const Occupancy& later,
                       std::span<const NodeId> nodes,
                       std::vector<std::int64_t>& out) {
    const TopologyIndex& topology = c.snapshot.topology;
    std::vector<std::int64_t> cost(nodes.size());
    std::vector<bool> lacks(nodes.size());
    for (const ClassSpread& s : c.cls.spread) {
        if (s.hard) continue;
        std::vector<std::int64_t> per_domain(topology.domain_count(s.key), -1);
        std::size_t domains = 0;
        for (NodeId n : nodes) {
            const std::int32_t d = topology.domain(s.key, n.index());
            if (d == TopologyIndex::kNoDomain || per_domain[static_cast<std::size_t>(d)] >= 0) continue;
            per_domain[static_cast<std::size_t>(d)] = 0;
            ++domains;
        }
        for (NodeId n : c.snapshot.nodes_by_name) {
            const std::int32_t d = topology.domain(s.key, n.index());
            if (d != TopologyIndex::kNoDomain && per_domain[static_cast<std::size_t>(d)] >= 0)
                per_domain[static_cast<std::size_t>(d)] += later.matching(s.term, static_cast<std::int32_t>(n.index()));
        }
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const std::int32_t d = topology.domain(s.key, nodes[i].index());
            if (d == TopologyIndex::kNoDomain)
                lacks[i] = true;
            else
                cost[i] += per_domain[static_cast<std::size_t>(d)] * log_milli(domains + 2) + (s.max_skew - 1) * 1000;
        }
    }
    std::int64_t least = INT64_MAX;
    std::int64_t most = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (lacks[i]) continue;
        least = std::min(least, cost[i]);
        most = std::max(most, cost[i]);
    }
    out.assign(nodes.size(), 0);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (lacks[i]) continue;
        out[i] = most == 0 ? kTopScore : kTopScore * (most + least - cost[i]) / most;
    }
}

std::int64_t score_image_locality(const Candidate& c, NodeId node) {
    const std::vector<Image>& there = c.snapshot.facts->node(node)->images;
    if (there.empty()) return 0;
    std::int64_t bytes = 0;
    for (StringId image : c.spec.images) {
        for (const Image& i : there) {
            if (i.name == image) bytes += i.bytes;
        }
    }
    const std::int64_t most =
        kMostImageBytes * static_cast<std::int64_t>(std::max<std::size_t>(1, c.spec.images.size()));
    bytes = std::clamp(bytes, kLeastImageBytes, most);
    return kTopScore * (bytes - kLeastImageBytes) / (most - kLeastImageBytes);
}

}  // namespace reprieve
