// Cluster: forgetting what nobody names any more: classes without pods, terms without classes, words.
#include <algorithm>

#include "base/hash.h"
#include "model/word_marks.h"
#include "state/cluster.h"

namespace reprieve {
namespace {

constexpr std::size_t kFewWords = 20'000;  // not worth the walk

void forget_in(std::unordered_map<std::uint64_t, std::vector<ClassId>>& index, std::uint64_t key, ClassId id) {
    const auto found = index.find(key);
    if (found == index.end()) return;
    std::erase(found->second, id);
    if (found->second.empty()) index.erase(found);
}

}  // namespace

bool Cluster::wants_sweep() const { return words_.word_count() > std::max(kFewWords, 2 * words_kept_); }

void Cluster::sweep(const std::function<void(WordMarks&)>& mark_more) {
    forget_classes();
    forget_terms();
    quota_of_namespace_.clear();
    WordMarks marks(words_);
    mark_words(marks);
    if (mark_more) mark_more(marks);
    words_.sweep(marks);
    words_kept_ = words_.word_count();
}

void Cluster::forget_classes() {
    std::vector<bool> used(snapshot_.classes.size());
    for (const PodRow& row : snapshot_.pods) {
        if (row.state != PodState::kAbsent && row.cls) used[row.cls.index()] = true;
    }
    for (ClassId id : IdRange<ClassId>(snapshot_.classes.size())) {
        PodClass& cls = snapshot_.classes[id];
        if (used[id.index()] || !cls.ns) continue;
        forget_in(classes_by_hash_, class_hash(cls.ns, cls.labels, cls.spec), id);
        for (const ClassVolume& v : cls.volumes) {
            if (v.kind == VolumeKind::kClaim) forget_in(classes_by_claim_, name_key(cls.ns, v.id), id);
        }
        cls = PodClass();
        unused_classes_.push_back(id);
    }
}

void Cluster::forget_terms() {
    std::vector<bool> used(snapshot_.terms.size());
    for (const PodClass& cls : snapshot_.classes) {
        for (TermId term : cls.affinity)
            used[term.index()] = true;
        for (TermId term : cls.anti_affinity)
            used[term.index()] = true;
        for (const ClassSpread& spread : cls.spread)
            used[spread.term.index()] = true;
        for (const auto* pulls : {&cls.preferred, &cls.pulls}) {
            for (const ClassPull& pull : *pulls)
                used[pull.term.index()] = true;
        }
    }
    std::vector<TermId> gone;
    for (TermId term : IdRange<TermId>(snapshot_.terms.size())) {
        if (used[term.index()] || snapshot_.terms.forgotten(term)) continue;
        snapshot_.terms.forget(term);
        snapshot_.now.forget(term);
        snapshot_.later.forget(term);
        gone.push_back(term);
    }
    if (gone.empty()) return;
    for (PodClass& cls : snapshot_.classes)
        std::erase_if(cls.matched, [&](TermId term) { return std::ranges::binary_search(gone, term); });
}

void Cluster::mark_words(WordMarks& marks) const {
    for (const Pod& pod : pods_)
        marks.all(pod);
    const auto mark_facts = [&](const auto& table) {
        table.for_each([&](auto, const auto& fact) { marks.all(fact); });
    };
    mark_facts(nodes_);
    mark_facts(priority_classes_);
    mark_facts(namespaces_);
    mark_facts(gangs_);
    mark_facts(composites_);
    mark_facts(queues_);
    mark_facts(hyper_nodes_);
    mark_facts(budgets_);
    for (const auto& table : workloads_)
        mark_facts(table);
    mark_facts(servings_);
    mark_facts(volumes_);
    mark_facts(claims_);
    mark_facts(storage_classes_);
    mark_facts(csi_nodes_);
    mark_facts(csi_drivers_);
    mark_facts(csi_capacities_);
    mark_facts(resource_slices_);
    mark_facts(device_classes_);
    mark_facts(resource_claims_);
    mark_facts(claim_templates_);
    mark_facts(taint_rules_);
    // Rows name what stands in facts, but for these.
    snapshot_.device_claims.pools.mark(marks);
    marks.all(scheduler_ids_);
    for (const PodClass& cls : snapshot_.classes) {
        marks.all(cls.ns, cls.labels, cls.spec);
        for (const ClassVolume& v : cls.volumes)
            marks.all(v.id, v.driver);
    }
    snapshot_.terms.mark(marks);
    snapshot_.topology.mark(marks);
    for (const QueueRow& row : snapshot_.queues)
        marks.all(row.name);
    for (const GangRow& row : snapshot_.gangs)
        marks.all(row.ns, row.name);
    for (const Domain& domain : snapshot_.domains.domains)
        marks.all(domain.name, domain.label_key, domain.tier_name);
}

}  // namespace reprieve
