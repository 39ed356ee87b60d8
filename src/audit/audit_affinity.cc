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

bool speaks_of(const Case& judged, const PodAffinityTerm& term, PodId pod) {
    return term.selector.matches(judged.labels(pod), judged.words) &&
           speaks_of_namespace(judged, term, judged.fact(pod).ns);
}

bool speaks_of(const Case& judged, const std::vector<PodAffinityTerm>& all, PodId pod) {
    return std::ranges::all_of(all, [&](const PodAffinityTerm& term) { return speaks_of(judged, term, pod); });
}

// None: the node has no such label, or there is no node.
StringId domain_of(const Case& judged, StringId key, NodeId node) {
    return node ? judged.cluster.node(node)->labels.get(key) : StringId();
}

bool share_domain(const Case& judged, StringId key, NodeId a, NodeId b) {
    const StringId domain = domain_of(judged, key, a);
    return domain && domain == domain_of(judged, key, b);
}

// Pods of the scene, itself aside, that a pod's required affinity speaks of.
std::vector<Seat> mates_of(const Scene& scene, PodId pod) {
    const std::vector<PodAffinityTerm>& terms = scene.judged().spec(pod).affinity;
    std::vector<Seat> mates;
    scene.each([&](const Seat& seat) {
        const auto counted = [&](const PodAffinityTerm& term) {
            return domain_of(scene.judged(), term.topology_key, seat.node).valid();
        };
        if (seat.pod == pod || std::ranges::none_of(terms, counted)) return;
        if (speaks_of(scene.judged(), terms, seat.pod)) mates.push_back(seat);
    });
    return mates;
}

// A pod that nobody matches may be the first of its kind.
bool may_be_first(const Scene& scene, const PlacedPod& placed, const std::vector<Seat>& mates, Proof proof) {
    const Case& judged = scene.judged();
    const std::vector<PodAffinityTerm>& terms = judged.spec(placed.pod).affinity;
    if (!speaks_of(judged, terms, placed.pod)) return false;
    if (proof == Proof::kOfFit) return mates.empty();
    const auto near = [&](NodeId a, NodeId b) {
        return std::ranges::all_of(
            terms, [&](const PodAffinityTerm& term) { return share_domain(judged, term.topology_key, a, b); });
    };
    // Those that the plan brings may have come after it, unless they would have had to follow it into its domain: who
    // asks for the same and has no other company.
    return std::ranges::all_of(mates, [&](const Seat& mate) {
        if (mate.placed == nullptr) return false;
        if (judged.spec(mate.pod).affinity != terms || near(placed.node, mate.node)) return true;
        return std::ranges::any_of(
            mates, [&](const Seat& third) { return third.pod != mate.pod && near(third.node, mate.node); });
    });
}

void judge_required(const Scene& scene, const PlacedPod& placed, Proof proof, Findings& out) {
    const Case& judged = scene.judged();
    const std::vector<PodAffinityTerm>& terms = judged.spec(placed.pod).affinity;
    for (const PodAffinityTerm& term : terms) {
        if (domain_of(judged, term.topology_key, placed.node)) continue;
        out.push_back(
            {"InterPodAffinity", fmt::format("the node has no label {}", judged.words.text(term.topology_key))});
        return;
    }
    const std::vector<Seat> mates = mates_of(scene, placed.pod);
    const auto sure = [&](const Seat& mate) {
        return proof == Proof::kOfFault || mate.placed == nullptr || mate.placed->owner() == placed.owner();
    };
    const auto satisfied = [&](const PodAffinityTerm& term) {
        return std::ranges::any_of(mates, [&](const Seat& mate) {
            return sure(mate) && share_domain(judged, term.topology_key, placed.node, mate.node);
        });
    };
    if (std::ranges::all_of(terms, satisfied) || may_be_first(scene, placed, mates, proof)) return;
    out.push_back({"InterPodAffinity", "none of the pods that it must be near is in its domain"});
}

// Calls `visit` for every other pod in the domain of the pod's node.
template <class Visit>
void each_neighbour(const Scene& scene, const PlacedPod& placed, StringId key, Visit visit) {
    const StringId value = domain_of(scene.judged(), key, placed.node);
    if (!value) return;
    for (const NodeId node : scene.judged().domain(key, value)) {
        for (const PodId other : scene.on(node)) {
            if (other != placed.pod) visit(other);
        }
    }
}

void judge_own_anti(const Scene& scene, const PlacedPod& placed, Findings& out) {
    const Case& judged = scene.judged();
    for (const PodAffinityTerm& term : judged.spec(placed.pod).anti_affinity) {
        each_neighbour(scene, placed, term.topology_key, [&](PodId other) {
            if (!speaks_of(judged, term, other)) return;
            out.push_back(
                {"InterPodAffinity",
                 fmt::format(
                     "must keep away from {} in {}", judged.name(other), judged.words.text(term.topology_key))});
        });
    }
}

void judge_others_anti(const Scene& scene, const PlacedPod& placed, Findings& out) {
    const Case& judged = scene.judged();
    for (const auto& item : scene.repelling()) {
        if (item.second == 0) continue;
        const StringId key = item.first;
        each_neighbour(scene, placed, key, [&](PodId other) {
            for (const PodAffinityTerm& term : judged.spec(other).anti_affinity) {
                if (term.topology_key != key || !speaks_of(judged, term, placed.pod)) continue;
                out.push_back({"InterPodAffinity",
                               fmt::format("{} keeps it away in {}", judged.name(other), judged.words.text(key))});
            }
        });
    }
}

}  // namespace

void judge_affinity(const Scene& scene, const PlacedPod& placed, Proof proof, Findings& out) {
    const Case& judged = scene.judged();
    if (!judged.filters_by("InterPodAffinity")) return;
    const View bound_in = placed.entry->after_evictions ? View::kLater : View::kNow;
    if (scene.view() == bound_in && !judged.spec(placed.pod).affinity.empty())
        judge_required(scene, placed, proof, out);
    judge_own_anti(scene, placed, out);
    judge_others_anti(scene, placed, out);
}

}  // namespace reprieve
