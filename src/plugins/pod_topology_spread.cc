// The filter PodTopologySpread: after placement no domain may hold more than maxSkew pods above the emptiest one.
//
// Only nodes that carry every topology key, and that the pod's node affinity and taints (as each constraint says) let
// it use, count. Terminating pods never count, so the later view is the one to ask, also for a placement now.
#include "plugins/pod_topology_spread.h"

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

SpreadBook::Tally make_tally(const Candidate& c, const ClassSpread& s) {
    const TopologyIndex& topology = c.snapshot.topology;
    SpreadBook::Tally tally;
    tally.constraint = &s;
    tally.domain_of.assign(c.snapshot.nodes.size(), TopologyIndex::kNoDomain);
    tally.held.assign(topology.domain_count(s.key), SpreadBook::kUncounted);
    for (NodeId n : c.snapshot.nodes_by_name) {
        if (!has_all_keys(c.cls, topology, n) || !counts(c, s, n)) continue;
        const std::int32_t domain = topology.domain(s.key, n.index());
        tally.domain_of[n.index()] = domain;
        std::int32_t& held = tally.held[static_cast<std::size_t>(domain)];
        if (held == SpreadBook::kUncounted) ++tally.domains;
        held = 0;
    }
    return tally;
}

void hold(SpreadBook::Tally& tally, std::size_t node, std::int32_t pods) {
    if (const std::int32_t domain = tally.domain_of[node]; domain != TopologyIndex::kNoDomain)
        tally.held[static_cast<std::size_t>(domain)] += pods;
}

void count_afresh(SpreadBook::Tally& tally, const Occupancy& later) {
    for (std::int32_t& held : tally.held) {
        if (held != SpreadBook::kUncounted) held = 0;
    }
    later.matching(tally.constraint->term).for_each([&](std::size_t node, std::int32_t pods) {
        hold(tally, node, pods);
    });
}

void find_least(SpreadBook::Tally& tally) {
    tally.least = std::numeric_limits<std::int32_t>::max();
    for (std::int32_t held : tally.held) {
        if (held != SpreadBook::kUncounted) tally.least = std::min(tally.least, held);
    }
    if (tally.domains == 0 || tally.domains < tally.constraint->min_domains) tally.least = 0;
}

void catch_up(SpreadBook::Tally& tally, const Occupancy& later) {
    const TermLog& log = later.term_log();
    bool changed = !tally.counted;
    if (!tally.counted || !log.reaches_back_to(tally.seen)) {
        count_afresh(tally, later);
        changed = true;
    } else {
        for (; tally.seen != log.end(); ++tally.seen) {
            const TermLog::Change& change = log[tally.seen];
            if (change.term != tally.constraint->term) continue;
            hold(tally, change.node, change.by);
            changed = true;
        }
    }
    if (changed) find_least(tally);
    tally.counted = true;
    tally.seen = log.end();
}

}  // namespace

const std::vector<SpreadBook::Tally>& SpreadBook::tallies(const Candidate& c, const Occupancy& later) {
    constexpr std::size_t kMostClasses = 256;
    const ClassId cls = c.snapshot.pods[c.pod].cls;
    auto at = by_class_.find(cls);
    if (at == by_class_.end()) {
        if (by_class_.size() >= kMostClasses) by_class_.clear();
        at = by_class_.emplace(cls, std::vector<Tally>()).first;
        for (const ClassSpread& s : c.cls.spread) {
            if (s.hard) at->second.push_back(make_tally(c, s));
        }
    }
    for (Tally& tally : at->second)
        catch_up(tally, later);
    return at->second;
}

Answer filter_pod_topology_spread(const Candidate& c, const Occupancy& later, SpreadBook& book, NodeId node) {
    const TopologyIndex& topology = c.snapshot.topology;
    for (const ClassSpread& s : c.cls.spread) {
        if (s.hard && topology.domain(s.key, node.index()) == TopologyIndex::kNoDomain)
            return {Fit::kNever, FilterId::kPodTopologySpread, kNoKey};
    }
    for (const SpreadBook::Tally& tally : book.tallies(c, later)) {
        const ClassSpread& s = *tally.constraint;
        const std::int32_t here =
            std::max(0, tally.held[static_cast<std::size_t>(topology.domain(s.key, node.index()))]);
        if (here + (s.counts_itself ? 1 : 0) - tally.least > s.max_skew)
            return {Fit::kNotNow, FilterId::kPodTopologySpread, kSkew};
    }
    return {};
}

}  // namespace reprieve
