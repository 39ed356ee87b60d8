// The filter PodTopologySpread: after placement no domain may hold more than maxSkew pods above the emptiest one.
//
// Only nodes that carry every topology key, and that the pod's node affinity and taints (as each constraint says) let
// it use, count. Terminating pods never count, so the later view is the one to ask, also for a placement now.
#include <algorithm>
#include <limits>

#include "plugins/filter.h"
#include "state/cluster.h"

namespace reprieve {
namespace {

enum SpreadTrouble : std::uint16_t { kSkew, kNoKey };

bool has_all_keys(const PodClass& cls, const TopologyIndex& topology, NodeId node) {
    return std::ranges::all_of(cls.spread, [&](const ClassSpread& s) {
        return !s.hard || topology.domain(s.key, node.index()) != TopologyIndex::kNoDomain;
    });
}

bool counts(const Candidate& c, const ClassSpread& s, NodeId node) {
    const Node& fact = *c.snapshot.facts->node(node);
    if (s.honor_node_affinity && !matches_node(c.spec, fact, *c.snapshot.words)) return false;
    if (!s.honor_taints) return true;
    return std::ranges::all_of(fact.taints, [&](const Taint& t) {
        return t.effect == TaintEffect::kPreferNoSchedule || tolerates(c.spec, t);
    });
}

}  // namespace

Answer filter_pod_topology_spread(const Candidate& c, const Occupancy& view, NodeId node) {
    const TopologyIndex& topology = c.snapshot.topology;
    for (const ClassSpread& s : c.cls.spread) {
        if (s.hard && topology.domain(s.key, node.index()) == TopologyIndex::kNoDomain)
            return {Fit::kNever, FilterId::kPodTopologySpread, kNoKey};
    }
    constexpr std::int32_t kUnseen = -1;
    std::vector<std::int32_t> per_domain;
    for (const ClassSpread& s : c.cls.spread) {
        if (!s.hard) continue;
        per_domain.assign(topology.domain_count(s.key), kUnseen);
        std::int32_t domains = 0;
        for (NodeId n : c.snapshot.nodes_by_name) {
            if (!has_all_keys(c.cls, topology, n) || !counts(c, s, n)) continue;
            std::int32_t& count = per_domain[static_cast<std::size_t>(topology.domain(s.key, n.index()))];
            if (count == kUnseen) {
                count = 0;
                ++domains;
            }
            count += view.matching(s.term, static_cast<std::int32_t>(n.index()));
        }
        std::int32_t least = std::numeric_limits<std::int32_t>::max();
        for (std::int32_t count : per_domain) {
            if (count != kUnseen) least = std::min(least, count);
        }
        if (domains == 0 || domains < s.min_domains) least = 0;
        const std::int32_t here =
            std::max(0, per_domain[static_cast<std::size_t>(topology.domain(s.key, node.index()))]);
        if (here + (s.counts_itself ? 1 : 0) - least > s.max_skew)
            return {Fit::kNotNow, FilterId::kPodTopologySpread, kSkew};
    }
    return {};
}

}  // namespace reprieve
