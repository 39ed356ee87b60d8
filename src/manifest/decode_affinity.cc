// Node affinity, pod affinity and topology spread.
#include <fmt/format.h>

#include "manifest/decode_selector.h"
#include "manifest/pod_draft.h"

namespace reprieve {
namespace {

constexpr std::int32_t kLeastWeight = 1;
constexpr std::int32_t kMostWeight = 100;

constexpr std::pair<std::string_view, bool> kUnsatisfiable[] = {{"DoNotSchedule", true}, {"ScheduleAnyway", false}};
constexpr std::pair<std::string_view, bool> kInclusion[] = {{"Honor", true}, {"Ignore", false}};

void decode_required_nodes(Cursor& at, PodSpec& shape) {
    if (at.is_null()) return;
    shape.node_affinity_required = true;
    for (Fields f(at); f.next();) {
        if (f.id() == "nodeSelectorTerms"_key) decode_node_terms(*f, shape.node_terms);
    }
}

void decode_preferred_node(Cursor& at, PodSpec& shape) {
    PreferredNodeTerm preferred;
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "weight"_key:
                f->read(preferred.weight, kLeastWeight, kMostWeight);
                break;
            case "preference"_key:
                decode_node_term(*f, preferred.term);
                break;
            default:
                break;
        }
    }
    // An empty preference says nothing, unlike an empty requirement, which nothing meets.
    if (preferred.term.labels.empty() && preferred.term.names.empty()) return;
    shape.preferred_nodes.push_back(std::move(preferred));
}

void decode_node_affinity(Cursor& at, PodSpec& shape) {
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "requiredDuringSchedulingIgnoredDuringExecution"_key:
                decode_required_nodes(*f, shape);
                break;
            case "preferredDuringSchedulingIgnoredDuringExecution"_key:
                for (Items item(*f); item.next();)
                    decode_preferred_node(*item, shape);
                break;
            default:
                break;
        }
    }
    // Preferences add up, so equal ones stay.
    std::sort(shape.preferred_nodes.begin(), shape.preferred_nodes.end());
}

void decode_term(Cursor& at, AffinityDraft& draft) {
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "topologyKey"_key:
                f->read(draft.term.topology_key);
                break;
            case "labelSelector"_key:
                decode_selector(*f, draft.term.selector);
                break;
            case "namespaces"_key:
                f->read(draft.term.namespaces);
                break;
            case "namespaceSelector"_key:
                decode_selector(*f, draft.term.namespace_selector);
                break;
            case "matchLabelKeys"_key:
                f->read(draft.match_keys);
                break;
            case "mismatchLabelKeys"_key:
                f->read(draft.mismatch_keys);
                break;
            default:
                break;
        }
    }
    if (!draft.term.topology_key) at.wrong("topologyKey", "is missing");
}

void decode_weighted_term(Cursor& at, bool anti, PodDraft& draft) {
    AffinityDraft& preferred = draft.affinity.emplace_back();
    preferred.kind = AffinityDraft::Kind::kPreferred;
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "weight"_key:
                f->read(preferred.weight, kLeastWeight, kMostWeight);
                break;
            case "podAffinityTerm"_key:
                decode_term(*f, preferred);
                break;
            default:
                break;
        }
    }
    if (!preferred.term.topology_key) at.wrong("podAffinityTerm", "is missing");
    if (anti) preferred.weight = -preferred.weight;
}

void decode_pod_affinity(Cursor& at, bool anti, PodDraft& draft) {
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "requiredDuringSchedulingIgnoredDuringExecution"_key:
                for (Items item(*f); item.next();) {
                    AffinityDraft& required = draft.affinity.emplace_back();
                    required.kind = anti ? AffinityDraft::Kind::kAntiAffinity : AffinityDraft::Kind::kAffinity;
                    decode_term(*item, required);
                }
                break;
            case "preferredDuringSchedulingIgnoredDuringExecution"_key:
                for (Items item(*f); item.next();)
                    decode_weighted_term(*item, anti, draft);
                break;
            default:
                break;
        }
    }
}

// Keys that the pod has no label for say nothing, nor do they without a selector.
void merge_keys(const std::vector<StringId>& keys, SelectorOp op, const Labels& labels, LabelSelector& selector) {
    if (selector.null) return;
    for (const StringId key : keys) {
        const StringId value = labels.get(key);
        if (!value) continue;
        Requirement requirement = equals(key, value);
        requirement.op = op;
        selector.requirements.push_back(std::move(requirement));
    }
    sort_unique(selector.requirements);
}

void decode_constraint(Cursor& at, SpreadDraft& draft) {
    SpreadConstraint& out = draft.constraint;
    bool skew_written = false;
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "topologyKey"_key:
                f->read(out.topology_key);
                break;
            case "labelSelector"_key:
                decode_selector(*f, out.selector);
                break;
            case "maxSkew"_key:
                f->read(out.max_skew, 1);
                skew_written = true;
                break;
            case "minDomains"_key:
                f->read(out.min_domains, 1);
                break;
            case "whenUnsatisfiable"_key:
                f->choose(out.hard, kUnsatisfiable);
                break;
            case "nodeAffinityPolicy"_key:
                f->choose(out.honor_node_affinity, kInclusion);
                break;
            case "nodeTaintsPolicy"_key:
                f->choose(out.honor_taints, kInclusion);
                break;
            case "matchLabelKeys"_key:
                f->read(draft.match_keys);
                break;
            default:
                break;
        }
    }
    if (!out.topology_key) at.wrong("topologyKey", "is missing");
    if (!skew_written) at.wrong("maxSkew", "is missing");
}

}  // namespace

void decode_affinity(Cursor& at, PodDraft& draft) {
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "nodeAffinity"_key:
                decode_node_affinity(*f, draft.shape);
                break;
            case "podAffinity"_key:
                decode_pod_affinity(*f, false, draft);
                break;
            case "podAntiAffinity"_key:
                decode_pod_affinity(*f, true, draft);
                break;
            default:
                break;
        }
    }
}

void decode_spread(Cursor& at, PodDraft& draft) {
    for (Items item(at); item.next();)
        decode_constraint(*item, draft.spread.emplace_back());
}

void finish_affinity(PodDraft& draft, StringId ns, const Labels& labels) {
    PodSpec& shape = draft.shape;
    for (AffinityDraft& term : draft.affinity) {
        merge_keys(term.match_keys, SelectorOp::kIn, labels, term.term.selector);
        merge_keys(term.mismatch_keys, SelectorOp::kNotIn, labels, term.term.selector);
        if (term.term.namespaces.empty() && term.term.namespace_selector.null) term.term.namespaces.push_back(ns);
        sort_unique(term.term.namespaces);
        switch (term.kind) {
            case AffinityDraft::Kind::kAffinity:
                shape.affinity.push_back(std::move(term.term));
                break;
            case AffinityDraft::Kind::kAntiAffinity:
                shape.anti_affinity.push_back(std::move(term.term));
                break;
            case AffinityDraft::Kind::kPreferred:
                shape.preferred_pods.push_back({term.weight, std::move(term.term)});
                break;
        }
    }
    sort_unique(shape.affinity);
    sort_unique(shape.anti_affinity);
    std::sort(shape.preferred_pods.begin(), shape.preferred_pods.end());

    for (SpreadDraft& spread : draft.spread) {
        merge_keys(spread.match_keys, SelectorOp::kIn, labels, spread.constraint.selector);
        shape.spread.push_back(std::move(spread.constraint));
    }
    sort_unique(shape.spread);
}

}  // namespace reprieve
