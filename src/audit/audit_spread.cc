// PodTopologySpread (DoNotSchedule): no domain may hold more than maxSkew pods above the emptiest one.
//
// Terminating pods never count, so the state after the evictions is the one to ask. Counts change with every step of a
// plan, and the plan does not say in which order it was made. In doubt, a pod of the plan that matches without having
// the same constraint came later, and a pod that another owner's demand evicts elsewhere was still there.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "audit/rules.h"

namespace reprieve {
namespace {

bool counts_node(const Case& judged, const PodSpec& spec, const SpreadConstraint& rule, const Node& node) {
    const bool has_keys = std::ranges::all_of(
        spec.spread, [&](const SpreadConstraint& each) { return !each.hard || node.labels.has(each.topology_key); });
    return has_keys && (!rule.honor_node_affinity || node_matches(spec, node, judged.words)) &&
           (!rule.honor_taints || tolerates_all(spec, node, judged.words));
}

void tally_seat(const Scene& scene, const SpreadConstraint& rule, const Seat& seat, SpreadTally& tally) {
    if (seat.placed == nullptr) {
        ++tally.settled;
        return;
    }
    const auto& rules = scene.judged().spec(seat.pod).spread;
    ++(std::ranges::find(rules, rule) != rules.end() ? tally.placed_alike : tally.placed_otherwise);
    ++tally.placed_for[seat.placed->owner()];
}

// Matching pods per domain that takes part; a domain without any stands, too.
SpreadTallies tally_domains(const Scene& scene, PodId asks, const SpreadConstraint& rule) {
    const Case& judged = scene.judged();
    const PodSpec& spec = judged.spec(asks);
    const auto matches = [&](PodId pod) {
        return judged.fact(pod).ns == judged.fact(asks).ns && rule.selector.matches(judged.labels(pod), judged.words);
    };
    SpreadTallies found;
    for (const NodeId id : IdRange<NodeId>(judged.snapshot.nodes.size())) {
        const Node* node = judged.cluster.node(id);
        if (node == nullptr || !counts_node(judged, spec, rule, *node)) continue;
        SpreadTally& tally = found[node->labels.get(rule.topology_key)];
        for (const PodId pod : scene.on(id)) {
            if (!judged.leaves(pod) && matches(pod)) tally_seat(scene, rule, scene.seat(pod), tally);
        }
    }
    for (const EvictedPod& victim : judged.evicted) {
        const Node* node = judged.cluster.node(judged.cluster.find_node(judged.fact(victim.pod).node));
        if (node == nullptr || scene.has(victim.pod) || !matches(victim.pod)) continue;
        if (!counts_node(judged, spec, rule, *node)) continue;
        SpreadTally& tally = found[node->labels.get(rule.topology_key)];
        ++tally.evicted;
        ++tally.evicted_for[victim.entry->owner];
    }
    return found;
}

std::int64_t of_owner(const std::map<std::string, std::int64_t>& counts, const std::string& owner) {
    const auto it = counts.find(owner);
    return it == counts.end() ? 0 : it->second;
}

// How many pods a domain held when the pod came, as far as the proof asks: at least so many in its own domain and at
// most so many elsewhere to prove a fault, the other way round to prove a fit.
std::int64_t pods_in(const SpreadTally& tally, bool own_domain, const std::string& owner, Proof proof) {
    const std::int64_t all = tally.settled + tally.placed_alike + tally.placed_otherwise;
    if (proof == Proof::kOfFault) {
        return own_domain ? all - tally.placed_otherwise : all + tally.evicted - of_owner(tally.evicted_for, owner);
    }
    return own_domain ? all : tally.settled + of_owner(tally.placed_for, owner);
}

std::int64_t skew_of(const SpreadTallies& tallies,
                     const SpreadConstraint& rule,
                     StringId domain,
                     const std::string& owner,
                     Proof proof) {
    std::int64_t here = 0;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const auto& [value, tally] : tallies) {
        const std::int64_t count = pods_in(tally, value == domain, owner, proof);
        if (value == domain) here = count;
        least = std::min(least, count);
    }
    if (tallies.empty() || std::cmp_less(tallies.size(), rule.min_domains)) least = 0;
    return here - least;
}

}  // namespace

void judge_spread(const Scene& scene, const PlacedPod& placed, Proof proof, Findings& out) {
    const Case& judged = scene.judged();
    if (scene.view() != View::kLater || !judged.filters_by("PodTopologySpread")) return;
    const Labels& labels = judged.cluster.node(placed.node)->labels;
    const std::vector<SpreadConstraint>& rules = judged.spec(placed.pod).spread;
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const SpreadConstraint& rule = rules[i];
        if (!rule.hard) continue;
        const StringId domain = labels.get(rule.topology_key);
        if (!domain) {
            out.push_back(
                {"PodTopologySpread", fmt::format("the node has no label {}", judged.words.text(rule.topology_key))});
            continue;
        }
        if (rule.selector.empty()) continue;  // upstream counts nobody then
        const Pod& fact = judged.fact(placed.pod);
        const auto [memo, fresh] = scene.spread_memo().try_emplace({fact.ns, fact.spec, i});
        if (fresh) memo->second = tally_domains(scene, placed.pod, rule);
        const std::int64_t skew = skew_of(memo->second, rule, domain, placed.owner(), proof);
        if (skew <= rule.max_skew) continue;
        out.push_back({"PodTopologySpread",
                       fmt::format("{} {} would have {} pods more than the emptiest, {} are allowed",
                                   judged.words.text(rule.topology_key),
                                   judged.words.text(domain),
                                   skew,
                                   rule.max_skew)});
    }
}

}  // namespace reprieve
