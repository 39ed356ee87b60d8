// PodTopologySpread (DoNotSchedule): no domain may hold more than maxSkew pods above the emptiest one.
//
// Terminating pods never count, so the state after the evictions is the one to ask. Counts change with every step of a
// plan, and the plan does not say in which order it was made. In doubt, a pod of the plan that matches without having
// the same constraint came later, and a pod that another owner's demand evicts elsewhere was still there.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "audit/rules.h"

namespace reprieve {
namespace {

struct Question {
    const Scene& scene;
    const PlacedPod& placed;
    const SpreadConstraint& rule;
    Proof proof;
    StringId own_domain;
};

bool counts_node(const Case& judged, const PodSpec& spec, const SpreadConstraint& rule, const Node& node) {
    const bool has_keys = std::ranges::all_of(
        spec.spread, [&](const SpreadConstraint& each) { return !each.hard || node.labels.has(each.topology_key); });
    return has_keys && (!rule.honor_node_affinity || node_matches(spec, node, judged.words)) &&
           (!rule.honor_taints || tolerates_all(spec, node, judged.words));
}

bool matches(const Question& q, PodId pod) {
    const Case& judged = q.scene.judged();
    return judged.fact(pod).ns == judged.fact(q.placed.pod).ns &&
           q.rule.selector.matches(judged.labels(pod), judged.words);
}

bool has_same_rule(const Question& q, PodId pod) {
    const auto& rules = q.scene.judged().spec(pod).spread;
    return std::ranges::find(rules, q.rule) != rules.end();
}

bool counts(const Question& q, const Seat& seat, StringId domain) {
    if (seat.pod == q.placed.pod) return true;
    if (seat.placed == nullptr) return true;
    if (q.proof == Proof::kOfFault) return domain != q.own_domain || has_same_rule(q, seat.pod);
    return domain == q.own_domain || seat.placed->owner() == q.placed.owner();
}

// Matching pods per domain that takes part; a domain without any stands as 0.
std::map<StringId, std::int64_t> count_domains(const Question& q) {
    const Case& judged = q.scene.judged();
    const PodSpec& spec = judged.spec(q.placed.pod);
    std::map<StringId, std::int64_t> found;
    for (const NodeId id : IdRange<NodeId>(judged.snapshot.nodes.size())) {
        const Node* node = judged.cluster.node(id);
        if (node == nullptr || !counts_node(judged, spec, q.rule, *node)) continue;
        const StringId domain = node->labels.get(q.rule.topology_key);
        std::int64_t& here = found[domain];
        for (const PodId pod : q.scene.on(id)) {
            if (!judged.fact(pod).terminating() && matches(q, pod) && counts(q, q.scene.seat(pod), domain)) ++here;
        }
    }
    if (q.proof == Proof::kOfFit) return found;
    for (const EvictedPod& victim : judged.evicted) {
        const NodeId id = judged.cluster.find_node(judged.fact(victim.pod).node);
        if (!id || q.scene.has(victim.pod) || victim.entry->owner == q.placed.owner() || !matches(q, victim.pod))
            continue;
        const StringId domain = judged.cluster.node(id)->labels.get(q.rule.topology_key);
        const bool takes_part = counts_node(judged, spec, q.rule, *judged.cluster.node(id));
        if (takes_part && domain != q.own_domain) ++found[domain];
    }
    return found;
}

}  // namespace

void judge_spread(const Scene& scene, const PlacedPod& placed, Proof proof, Findings& out) {
    const Case& judged = scene.judged();
    if (scene.view() != View::kLater || !judged.filters_by("PodTopologySpread")) return;
    const Labels& labels = judged.cluster.node(placed.node)->labels;
    for (const SpreadConstraint& rule : judged.spec(placed.pod).spread) {
        if (!rule.hard) continue;
        const StringId domain = labels.get(rule.topology_key);
        if (!domain) {
            out.push_back(
                {"PodTopologySpread", fmt::format("the node has no label {}", judged.words.text(rule.topology_key))});
            continue;
        }
        if (rule.selector.empty()) continue;  // upstream counts nobody then
        const auto per_domain = count_domains({scene, placed, rule, proof, domain});
        std::int64_t least = 0;
        if (!per_domain.empty() && std::cmp_greater_equal(per_domain.size(), rule.min_domains)) {
            least = std::ranges::min_element(per_domain, {}, [](const auto& item) { return item.second; })->second;
        }
        const auto here = per_domain.find(domain);
        const std::int64_t skew = (here == per_domain.end() ? 0 : here->second) - least;
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
