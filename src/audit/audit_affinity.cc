// InterPodAffinity: whom a pod must be near, whom it must keep away from, and who keeps away from it.
//
// Anti-affinity must hold at the end of the plan. Required affinity is asked of the state in which the pod is bound:
// a mate that is evicted after a pod was bound now does that pod no harm.
#include <fmt/format.h>

#include <algorithm>

#include "audit/rules.h"

namespace reprieve {
namespace {

bool speaks_of_namespace(const Case& judged, const PodAffinityTerm& term, StringId ns) {
    if (std::ranges::find(term.namespaces, ns) != term.namespaces.end()) return true;
    if (term.namespace_selector.null) return false;
    const auto& namespaces = judged.cluster.namespaces();
    const Namespace* fact = namespaces.get(namespaces.find({}, ns));
    Labels labels = fact == nullptr ? Labels() : fact->labels;
    // Every namespace carries its own name as a label.
    if (const StringId key = judged.words.find_string("kubernetes.io/metadata.name")) labels.set(key, ns);
    return term.namespace_selector.matches(labels, judged.words);
}

bool speaks_of_itself(const Case& judged, PodId pod) {
    return std::ranges::all_of(judged.spec(pod).affinity, [&](const PodAffinityTerm& term) {
        return speaks_of(judged, term, judged.fact(pod).ns, judged.labels(pod));
    });
}

// None: the node has no such label, or there is no node.
StringId domain_of(const Case& judged, StringId key, NodeId node) {
    return node ? judged.cluster.node(node)->labels.get(key) : StringId();
}

// A pod that nobody matches may be the first of its kind.
bool may_be_first(const PlacedPod& placed, const MateBook& mates, bool is_own_mate, Certainty certainty) {
    if (!is_own_mate) return false;
    if (certainty == Certainty::kOfFit) return mates.all() == 1;
    // Those that the plan brings may have come after it, unless they would have had to follow it into its domain: who
    // asks for the same and has no other company.
    return mates.settled() == 0 && mates.lonely_elsewhere(placed.node) == 0;
}

// Whether somebody in the domain, the pod itself aside, is surely there when the pod comes.
bool has_company(const MateBook& mates,
                 std::size_t term,
                 StringId domain,
                 const PlacedPod& placed,
                 bool is_own_mate,
                 Certainty certainty) {
    const MateBook::Company* there = mates.company(term, domain);
    if (there == nullptr) return false;
    if (there->settled > 0) return true;
    if (certainty == Certainty::kOfFault) return there->placed > (is_own_mate ? 1 : 0);
    return there->steady_for.contains(placed.owner());
}

void judge_required(const Scene& scene, const PlacedPod& placed, Certainty certainty, Findings& out) {
    const Case& judged = scene.judged();
    const std::vector<PodAffinityTerm>& terms = judged.spec(placed.pod).affinity;
    for (const PodAffinityTerm& term : terms) {
        if (domain_of(judged, term.topology_key, placed.node)) continue;
        out.push_back(
            {"InterPodAffinity", fmt::format("the node has no label {}", judged.words.text(term.topology_key))});
        return;
    }
    const MateBook& mates = scene.neighbours().mates(scene, judged.fact(placed.pod).spec);
    const bool is_own_mate = speaks_of_itself(judged, placed.pod);
    bool satisfied = true;
    for (std::size_t term = 0; term < terms.size(); ++term) {
        const StringId domain = domain_of(judged, terms[term].topology_key, placed.node);
        satisfied = satisfied && has_company(mates, term, domain, placed, is_own_mate, certainty);
    }
    if (satisfied || may_be_first(placed, mates, is_own_mate, certainty)) return;
    out.push_back({"InterPodAffinity", "none of the pods that it must be near is in its domain"});
}

void judge_own_anti(const Scene& scene, const PlacedPod& placed, Findings& out) {
    const Case& judged = scene.judged();
    const std::vector<PodAffinityTerm>& terms = judged.spec(placed.pod).anti_affinity;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const StringId key = terms[i].topology_key;
        const StringId domain = domain_of(judged, key, placed.node);
        if (!domain) continue;
        for (const PodId other : scene.neighbours().strangers(scene, {judged.fact(placed.pod).spec, i}).in(domain)) {
            if (other == placed.pod) continue;
            out.push_back({"InterPodAffinity",
                           fmt::format("must keep away from {} in {}", judged.name(other), judged.words.text(key))});
        }
    }
}

void judge_others_anti(const Scene& scene, const PlacedPod& placed, Findings& out) {
    const Case& judged = scene.judged();
    scene.neighbours().each_repelling(placed.pod, placed.node, [&](PodId other, StringId key) {
        out.push_back(
            {"InterPodAffinity", fmt::format("{} keeps it away in {}", judged.name(other), judged.words.text(key))});
    });
}

}  // namespace

bool speaks_of(const Case& judged, const PodAffinityTerm& term, StringId ns, const Labels& labels) {
    return term.selector.matches(labels, judged.words) && speaks_of_namespace(judged, term, ns);
}

void judge_affinity(const Scene& scene, const PlacedPod& placed, Certainty certainty, Findings& out) {
    const Case& judged = scene.judged();
    if (!judged.filters_by("InterPodAffinity")) return;
    const Moment bound_in = placed.entry->after_evictions ? Moment::kLater : Moment::kNow;
    if (scene.view() == bound_in && !judged.spec(placed.pod).affinity.empty())
        judge_required(scene, placed, certainty, out);
    judge_own_anti(scene, placed, out);
    judge_others_anti(scene, placed, out);
}

}  // namespace reprieve
