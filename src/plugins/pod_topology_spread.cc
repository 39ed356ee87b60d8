// The filter PodTopologySpread: after placement no domain may hold more than maxSkew pods above the emptiest one.
//
// Only nodes that carry every topology key, and that the pod's node affinity and taints (as each constraint says) let
// it use, count. Terminating pods never count, so the later view is the one to ask, also for a placement now.
#include "plugins/pod_topology_spread.h"

#include <algorithm>

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
        tally.held[static_cast<std::size_t>(domain)] = 0;
    }
    return tally;
}

void hold(SpreadBook::Tally& tally, std::size_t node, std::int32_t pods) {
    const std::int32_t domain = tally.domain_of[node];
    if (domain == TopologyIndex::kNoDomain || pods == 0) return;
    std::int32_t& held = tally.held[static_cast<std::size_t>(domain)];
    const auto before = tally.domains.find(held);
    if (--before->second == 0) tally.domains.erase(before);
    held += pods;
    ++tally.domains[held];
}

void count_afresh(SpreadBook::Tally& tally, const Occupancy& later, const PromisedCounts* without) {
    tally.domains.clear();
    for (std::int32_t& held : tally.held) {
        if (held == SpreadBook::kUncounted) continue;
        held = 0;
        ++tally.domains[0];
    }
    const TermId term = tally.constraint->term;
    later.matching(term).for_each([&](std::size_t node, std::int32_t pods) { hold(tally, node, pods); });
    if (without == nullptr || without->nominated(term) == nullptr) return;
    without->nominated(term)->for_each([&](std::size_t node, std::int32_t pods) { hold(tally, node, -pods); });
}

void follow(SpreadBook::Tally& tally, const TermLog& log, std::uint64_t seen, std::int32_t sign) {
    for (; seen != log.end(); ++seen) {
        if (log[seen].term == tally.constraint->term) hold(tally, log[seen].node, sign * log[seen].by);
    }
}

void catch_up(SpreadBook::Tally& tally, const Occupancy& later, const PromisedCounts* without) {
    const TermLog& log = later.term_log();
    const bool near =
        log.reaches_back_to(tally.seen) && (without == nullptr || without->log().reaches_back_to(tally.seen_promised));
    if (!tally.counted || !near) {
        count_afresh(tally, later, without);
    } else {
        follow(tally, log, tally.seen, +1);
        if (without != nullptr) follow(tally, without->log(), tally.seen_promised, -1);
    }
    tally.counted = true;
    tally.seen = log.end();
    if (without != nullptr) tally.seen_promised = without->log().end();
    std::int32_t domains = 0;
    const std::int32_t wanted = std::max(tally.constraint->min_domains, 1);
    for (auto at = tally.domains.begin(); at != tally.domains.end() && domains < wanted; ++at)
        domains += at->second;
    tally.least = domains < wanted ? 0 : tally.domains.begin()->first;
}

}  // namespace

const std::vector<SpreadBook::Tally>& SpreadBook::tallies(const Candidate& c,
                                                          const Occupancy& later,
                                                          const PromisedCounts* without) {
    constexpr std::size_t kMostClasses = 256;
    ByClass& book = without == nullptr ? by_class_ : without_nominated_;
    const ClassId cls = c.snapshot.pods[c.pod].cls;
    auto at = book.find(cls);
    if (at == book.end()) {
        if (book.size() >= kMostClasses) book.clear();
        at = book.emplace(cls, std::vector<Tally>()).first;
        for (const ClassSpread& s : c.cls.spread) {
            if (s.hard) at->second.push_back(make_tally(c, s));
        }
    }
    for (Tally& tally : at->second)
        catch_up(tally, later, without);
    return at->second;
}

bool within_skew(const SpreadBook::Tally& tally, const Candidate& c, NodeId node) {
    const ClassSpread& s = *tally.constraint;
    const std::int32_t domain = c.snapshot.topology.domain(s.key, node.index());
    if (domain == TopologyIndex::kNoDomain) return false;
    const std::int32_t here = std::max(0, tally.held[static_cast<std::size_t>(domain)]);
    return here + (s.counts_itself ? 1 : 0) - tally.least <= s.max_skew;
}

Answer filter_pod_topology_spread(const Candidate& c, const Occupancy& later, SpreadBook& book, NodeId node) {
    const TopologyIndex& topology = c.snapshot.topology;
    for (const ClassSpread& s : c.cls.spread) {
        if (s.hard && topology.domain(s.key, node.index()) == TopologyIndex::kNoDomain)
            return {Fit::kNever, FilterId::kPodTopologySpread, kNoKey};
    }
    for (const SpreadBook::Tally& tally : book.tallies(c, later)) {
        if (!within_skew(tally, c, node)) return {Fit::kNotNow, FilterId::kPodTopologySpread, kSkew};
    }
    return {};
}

}  // namespace reprieve
