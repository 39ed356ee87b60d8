// NodeName, NodeUnschedulable, TaintToleration, NodeAffinity: what pod and node say of themselves.
#include <fmt/format.h>

#include <algorithm>

#include "audit/rules.h"

namespace reprieve {
namespace {

constexpr std::string_view kCordonKey = "node.kubernetes.io/unschedulable";

bool tolerated(
    const PodSpec& spec, std::string_view key, std::string_view value, TaintEffect effect, const Vocabulary& words) {
    return std::ranges::any_of(spec.tolerations, [&](const Toleration& t) {
        if (t.effect != TaintEffect::kAny && t.effect != effect) return false;
        if (!t.key || words.text(t.key).empty()) return t.exists;
        if (words.text(t.key) != key) return false;
        return t.exists || words.text(t.value) == value;
    });
}

}  // namespace

bool tolerates_all(const PodSpec& spec, const Node& node, const Vocabulary& words) {
    return std::ranges::all_of(node.taints, [&](const Taint& taint) {
        return taint.effect == TaintEffect::kPreferNoSchedule ||
               tolerated(spec, words.text(taint.key), words.text(taint.value), taint.effect, words);
    });
}

bool node_matches(const PodSpec& spec, const Node& node, const Vocabulary& words) {
    for (const Requirement& wanted : spec.node_selector) {
        if (!wanted.matches(node.labels, words)) return false;
    }
    if (!spec.node_affinity_required && spec.node_terms.empty()) return true;
    return std::ranges::any_of(
        spec.node_terms, [&](const NodeSelectorTerm& term) { return term.matches(node.labels, node.name, words); });
}

void judge_node_facts(const Case& judged, const PlacedPod& placed, Findings& out) {
    const Vocabulary& words = judged.words;
    const PodSpec& spec = judged.spec(placed.pod);
    const Node& node = *judged.cluster.node(placed.node);
    const std::string_view name = words.text(node.name);
    if (judged.filters_by("NodeName") && spec.host && spec.host != node.name) {
        out.push_back({"NodeName", fmt::format("wants node {}, not {}", words.text(spec.host), name)});
    }
    if (judged.filters_by("NodeUnschedulable") && node.unschedulable &&
        !tolerated(spec, kCordonKey, "", TaintEffect::kNoSchedule, words)) {
        out.push_back({"NodeUnschedulable", fmt::format("node {} is unschedulable", name)});
    }
    if (judged.filters_by("TaintToleration") && !tolerates_all(spec, node, words)) {
        out.push_back({"TaintToleration", fmt::format("node {} has a taint that is not tolerated", name)});
    }
    if (judged.filters_by("NodeAffinity") && !node_matches(spec, node, words)) {
        out.push_back({"NodeAffinity", fmt::format("node {} is not one that selector and affinity allow", name)});
    }
}

}  // namespace reprieve
