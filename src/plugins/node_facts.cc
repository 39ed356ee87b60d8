// The filters NodeName, NodeUnschedulable, TaintToleration and NodeAffinity: what node and pod say of themselves.
#include <algorithm>

#include "plugins/filter.h"
#include "state/cluster.h"

namespace reprieve {
namespace {

Answer never(FilterId filter) { return {Fit::kNever, filter, 0}; }

}  // namespace

bool tolerates(const PodSpec& spec, const Taint& taint) {
    return std::ranges::any_of(spec.tolerations, [&](const Toleration& t) {
        if (t.effect != TaintEffect::kAny && t.effect != taint.effect) return false;
        if (t.key && t.key != taint.key) return false;
        if (!t.key && !t.exists) return false;
        return t.exists || t.value == taint.value;
    });
}

bool matches_node(const PodSpec& spec, const Node& node, const Vocabulary& words) {
    if (!std::ranges::all_of(spec.node_selector, [&](const Requirement& r) { return r.matches(node.labels, words); }))
        return false;
    if (!spec.node_affinity_required) return true;
    return std::ranges::any_of(spec.node_terms,
                               [&](const NodeSelectorTerm& t) { return t.matches(node.labels, node.name, words); });
}

Answer filter_node_name(const Candidate& c, NodeId node) {
    if (!c.spec.host || c.spec.host == c.snapshot.facts->node(node)->name) return {};
    return never(FilterId::kNodeName);
}

Answer filter_node_unschedulable(const Candidate& c, NodeId node) {
    if (!c.snapshot.facts->node(node)->unschedulable) return {};
    Vocabulary& words = *c.snapshot.words;
    const Taint cordon{words.string("node.kubernetes.io/unschedulable"), words.string(""), TaintEffect::kNoSchedule};
    if (tolerates(c.spec, cordon)) return {};
    return never(FilterId::kNodeUnschedulable);
}

Answer filter_taint_toleration(const Candidate& c, NodeId node) {
    for (const Taint& taint : c.snapshot.facts->node(node)->taints) {
        if (taint.effect == TaintEffect::kPreferNoSchedule || tolerates(c.spec, taint)) continue;
        return {Fit::kNever, FilterId::kTaintToleration, taint.key.value()};
    }
    return {};
}

Answer filter_node_affinity(const Candidate& c, NodeId node) {
    if (matches_node(c.spec, *c.snapshot.facts->node(node), *c.snapshot.words)) return {};
    return never(FilterId::kNodeAffinity);
}

}  // namespace reprieve
