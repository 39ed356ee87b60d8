// Cluster: classes of pods, the terms they bring, and which terms and budgets speak of them.
#include <algorithm>

#include "base/hash.h"
#include "state/cluster.h"

namespace reprieve {

ClassId Cluster::class_for(const Pod& pod) {
    const std::uint64_t hash = class_hash(pod.ns, pod.labels, pod.spec);
    if (const auto same = classes_by_hash_.find(hash); same != classes_by_hash_.end()) {
        for (ClassId id : same->second) {
            const PodClass& cls = snapshot_.classes[id];
            if (cls.ns == pod.ns && cls.labels == pod.labels && cls.spec == pod.spec) return id;
        }
    }
    const ClassId id = make_class(pod.ns, pod.labels, pod.spec);
    classes_by_hash_[hash].push_back(id);
    return id;
}

std::uint64_t Cluster::class_hash(StringId ns, LabelsId labels, SpecId spec) {
    return mix_hash(mix_hash(ns.value(), labels.value()), spec.value());
}

TopologyKeyId Cluster::topology_key(StringId label) {
    bool is_new = false;
    const TopologyKeyId key = snapshot_.topology.key(label, is_new);
    if (is_new) {
        for (NodeId node : IdRange<NodeId>(nodes_.slots())) {
            if (const Node* fact = nodes_.get(node))
                snapshot_.topology.set_node(key, node.index(), fact->labels.get(label));
        }
    }
    return key;
}

TermId Cluster::term_for(TopologyKeyId key, std::vector<PodMatch> matches) {
    bool is_new = false;
    const TermId id = snapshot_.terms.add({key, std::move(matches)}, is_new);
    if (is_new) new_terms_.push_back(id);
    return id;
}

ClassId Cluster::make_class(StringId ns, LabelsId labels, SpecId spec_id) {
    const PodSpec& spec = words_.spec(spec_id);
    PodClass cls{.ns = ns, .labels = labels, .spec = spec_id};
    const StringId key = words_.find_string("quota.scheduling.koordinator.sh/preemptible");
    const std::string_view mark = key ? words_.text(words_.labels(labels).get(key)) : std::string_view();
    // Whatever is not plainly "true" protects.
    if (!mark.empty()) cls.mark = mark == "true" ? QuotaMark::kPreemptible : QuotaMark::kFixed;
    for (const auto& amount : spec.requests) {
        if (amount.value > 0) cls.requests.push_back(amount);
    }
    std::ranges::sort(cls.requests, [&](const auto& a, const auto& b) { return words_.comes_before(a.dim, b.dim); });
    const auto match_of = [](const PodAffinityTerm& t) {
        return PodMatch{t.selector, t.namespaces, t.namespace_selector};
    };

    // Required affinity speaks of pods that match all terms together, counted per topology key.
    std::vector<PodMatch> all;
    for (const PodAffinityTerm& t : spec.affinity)
        all.push_back(match_of(t));
    std::ranges::sort(all);
    for (const PodAffinityTerm& t : spec.affinity) {
        const TermId id = term_for(topology_key(t.topology_key), all);
        if (std::ranges::find(cls.affinity, id) == cls.affinity.end()) cls.affinity.push_back(id);
        cls.pulls.push_back({term_for(topology_key(t.topology_key), {match_of(t)}), 1});
    }
    for (const PodAffinityTerm& t : spec.anti_affinity)
        cls.anti_affinity.push_back(term_for(topology_key(t.topology_key), {match_of(t)}));
    for (const PreferredPodTerm& p : spec.preferred_pods) {
        const ClassPull pull{term_for(topology_key(p.term.topology_key), {match_of(p.term)}), p.weight};
        cls.preferred.push_back(pull);
        cls.pulls.push_back(pull);
    }
    for (const SpreadConstraint& s : spec.spread) {
        cls.spread.push_back({.term = term_for({}, {PodMatch{s.selector, {ns}, {}}}),
                              .key = topology_key(s.topology_key),
                              .max_skew = s.max_skew,
                              .min_domains = s.min_domains,
                              .hard = s.hard,
                              .honor_node_affinity = s.honor_node_affinity,
                              .honor_taints = s.honor_taints,
                              .counts_itself = s.selector.matches(words_.labels(labels), words_)});
    }
    cls.has_ports = !spec.ports.empty();
    cls.has_devices = spec.devices.any();
    cls.has_claims = !spec.claims.empty() || std::ranges::any_of(spec.extended, [&](const ExtendedAsk& ask) {
        return snapshot_.device_claims.class_of_resource.contains(ask.resource);
    });
    settle_claims_of(cls);
    for (const VolumeUse& v : spec.volumes) {
        if (v.kind != VolumeKind::kCsiInline)
            cls.volumes.push_back({.kind = v.kind, .id = v.id, .read_only = v.read_only});
    }
    resolve_volumes(cls);
    for (BudgetId id : IdRange<BudgetId>(snapshot_.budgets.size())) {
        const DisruptionBudget* fact = snapshot_.budgets[id].fact;
        if (fact == nullptr || fact->ns != ns || fact->selector.empty()) continue;
        if (!words_.labels(labels).empty() && fact->selector.matches(words_.labels(labels), words_))
            cls.budgets.push_back(id);
    }
    std::ranges::sort(cls.budgets, {}, [&](BudgetId id) { return words_.text(budgets_.get(id)->name); });
    ClassId id;
    if (unused_classes_.empty()) {
        id = snapshot_.classes.push_back(std::move(cls));
    } else {
        id = unused_classes_.back();
        unused_classes_.pop_back();
        snapshot_.classes[id] = std::move(cls);
    }
    match_terms(id);
    PodClass& made = snapshot_.classes[id];
    for (const ClassVolume& v : made.volumes) {
        if (v.kind == VolumeKind::kClaim) classes_by_claim_[name_key(ns, v.id)].push_back(id);
    }
    made.affinity_to_itself = !made.affinity.empty() && std::ranges::all_of(made.affinity, [&](TermId t) {
        return snapshot_.terms.matches(t, ns, words_.labels(labels), namespace_labels_, words_);
    });
    return id;
}

void Cluster::resolve_volumes(PodClass& cls) const {
    cls.has_waiting_claims = false;
    for (ClassVolume& v : cls.volumes) {
        if (v.kind != VolumeKind::kClaim) continue;
        v.driver = {};
        v.single_pod = v.waits = false;
        v.claim = claims_.find(cls.ns, v.id);
        const VolumeClaim* claim = claims_.get(v.claim);
        if (claim == nullptr) continue;
        v.single_pod = std::ranges::find(claim->modes, AccessMode::kReadWriteOncePod) != claim->modes.end();
        if (const PersistentVolume* pv = claim->volume ? volume(claim->volume) : nullptr) {
            v.driver = pv->csi_driver;
        } else {
            const StorageClass* sc = storage_class_of(*claim);
            if (sc != nullptr) v.driver = sc->provisioner;
            v.waits = !claim->volume && sc != nullptr && sc->wait_for_first_consumer;
            cls.has_waiting_claims = cls.has_waiting_claims || v.waits;
        }
    }
}

// Which classes the budget speaks of. A budget that is gone speaks of none.
void Cluster::match_budget(BudgetId id) {
    const DisruptionBudget* fact = budgets_.get(id);
    for (PodClass& cls : snapshot_.classes) {
        std::erase(cls.budgets, id);
        if (fact == nullptr || fact->ns != cls.ns || fact->selector.empty()) continue;
        const Labels& labels = words_.labels(cls.labels);
        if (!labels.empty() && fact->selector.matches(labels, words_)) {
            const auto name_of = [&](BudgetId budget) { return words_.text(budgets_.get(budget)->name); };
            cls.budgets.insert(std::ranges::lower_bound(cls.budgets, name_of(id), {}, name_of), id);
        }
    }
}

// After the labels of a namespace have changed; its pods are not in the sums.
void Cluster::match_namespace(StringId ns) {
    for (ClassId id : IdRange<ClassId>(snapshot_.classes.size())) {
        PodClass& cls = snapshot_.classes[id];
        if (cls.ns != ns) continue;
        match_terms(id);
        cls.affinity_to_itself = !cls.affinity.empty() && std::ranges::all_of(cls.affinity, [&](TermId t) {
            return snapshot_.terms.matches(t, ns, words_.labels(cls.labels), namespace_labels_, words_);
        });
    }
}

// The known terms that speak of the class.
void Cluster::match_terms(ClassId id) {
    PodClass& cls = snapshot_.classes[id];
    const Labels& labels = words_.labels(cls.labels);
    std::vector<TermId> candidates;
    snapshot_.terms.candidates(labels, candidates);
    cls.matched.clear();
    for (TermId t : candidates) {
        if (snapshot_.terms.matches(t, cls.ns, labels, namespace_labels_, words_)) cls.matched.push_back(t);
    }
    std::ranges::sort(cls.matched);
}

// Terms that came with a new class also speak of classes (and count pods) that were there before.
void Cluster::fill_new_terms() {
    if (new_terms_.empty()) return;
    std::vector<TermId> fresh;
    fresh.swap(new_terms_);
    fit_views();
    const Geometry geometry = snapshot_.geometry();
    std::vector<std::vector<TermId>> gained(snapshot_.classes.size());
    bool any = false;
    for (TermId term : fresh) {
        for (ClassId id : IdRange<ClassId>(snapshot_.classes.size())) {
            PodClass& cls = snapshot_.classes[id];
            if (!cls.ns) continue;                                        // nobody's
            if (std::ranges::binary_search(cls.matched, term)) continue;  // its own class knew it from the start
            if (!snapshot_.terms.matches(term, cls.ns, words_.labels(cls.labels), namespace_labels_, words_)) continue;
            cls.matched.insert(std::ranges::lower_bound(cls.matched, term), term);
            gained[id.index()].push_back(term);
            any = true;
        }
    }
    if (!any) return;
    for (PodId pod : IdRange<PodId>(snapshot_.pods.size())) {
        const PodRow& row = snapshot_.pods[pod];
        if (!row.cls || !row.node || gained[row.cls.index()].empty()) continue;
        for (TermId term : gained[row.cls.index()]) {
            if (row.state == PodState::kRunning || row.state == PodState::kTerminating)
                snapshot_.now.apply_term(geometry, term, row.node, +1);
            if (row.state == PodState::kRunning) snapshot_.later.apply_term(geometry, term, row.node, +1);
        }
    }
}

}  // namespace reprieve
