#include "actions/far_reaching.h"

#include <algorithm>
#include <iterator>

#include "actions/holds.h"

namespace reprieve {

bool FarReaching::is_placed(PodId pod) const {
    const PodState state = desk_.session.snapshot.pods[pod].state;
    return state == PodState::kPlaced || state == PodState::kNominated;
}

void FarReaching::note() {
    const auto journal = desk_.session.tx.journal();
    noted_ = std::min(noted_, journal.size());
    for (; noted_ < journal.size(); ++noted_) {
        const Op& op = journal[noted_];
        if (op.kind != OpKind::kPlace && op.kind != OpKind::kNominate) continue;
        const PodClass& cls = desk_.session.snapshot.class_of(op.pod);
        for (TermId term : cls.affinity) {
            const Snapshot& s = desk_.session.snapshot;
            by_affinity_[term][s.topology.domain(s.terms[term].key, op.node.index())].insert(op.pod);
        }
        for (const ClassSpread& spread : cls.spread)
            by_spread_[spread.term].insert(op.pod);
    }
}

std::vector<PodId> FarReaching::pods() const {
    std::set<PodId> found;
    const auto add = [&](const std::set<PodId>& pods) {
        std::ranges::copy_if(pods, std::inserter(found, found.end()), [&](PodId p) { return is_placed(p); });
    };
    for (const auto& [term, by_domain] : by_affinity_) {
        for (const auto& [domain, pods] : by_domain)
            add(pods);
    }
    for (const auto& [term, pods] : by_spread_)
        add(pods);
    return {found.begin(), found.end()};
}

bool FarReaching::hold_since(Transaction::Checkpoint start) {
    if (by_affinity_.empty() && by_spread_.empty()) return true;
    std::vector<std::pair<PodId, NodeId>> gone;
    std::vector<PodId> newcomers;
    for (const Op& op : desk_.session.tx.since(start)) {
        if (op.kind == OpKind::kEvict && op.sign > 0) gone.emplace_back(op.pod, op.node);
        if ((op.kind == OpKind::kPlace || op.kind == OpKind::kNominate) && op.sign > 0 && is_placed(op.pod) &&
            speaks_of(op.pod))
            newcomers.push_back(op.pod);
    }
    if (!hold_without(gone)) return false;
    if (gone.empty() || newcomers.empty()) return true;
    std::ranges::sort(newcomers);
    const auto repeated = std::ranges::unique(newcomers);
    newcomers.erase(repeated.begin(), repeated.end());
    const auto mark = desk_.session.tx.checkpoint();
    for (PodId pod : newcomers)
        desk_.session.tx.unplace(pod);
    const bool hold = hold_without(gone);
    desk_.session.tx.rollback(mark);
    return hold;
}

bool FarReaching::speaks_of(PodId pod) const {
    const std::vector<TermId>& matched = desk_.session.snapshot.class_of(pod).matched;
    return std::ranges::any_of(matched, [&](TermId t) { return by_affinity_.contains(t) || by_spread_.contains(t); });
}

bool FarReaching::hold_without(std::span<const std::pair<PodId, NodeId>> gone) {
    asked_.clear();
    return std::ranges::all_of(gone, [&](const auto& item) { return hold_without(item.first, item.second); });
}

FarReaching::Place FarReaching::place_of(PodId pod) const {
    const Snapshot& s = desk_.session.snapshot;
    Place place{s.pods[pod].cls, {}};
    for (const ClassSpread& spread : s.class_of(pod).spread)
        place.second.push_back(s.topology.domain(spread.key, s.pods[pod].node.index()));
    return place;
}

// Affinity loses company in the domain of the pod that is gone, and nowhere else; whoever still has company there that
// runs and stays has lost nothing. Spread compares all domains with the emptiest one, which may now be emptier: there
// everybody who counts that pod is asked, once per place.
bool FarReaching::hold_without(PodId gone, NodeId node) {
    const Snapshot& s = desk_.session.snapshot;
    for (TermId term : s.class_of(gone).matched) {
        if (const auto at = by_affinity_.find(term); at != by_affinity_.end()) {
            const TopologyKeyId key = s.terms[term].key;
            const std::int32_t domain = s.topology.domain(key, node.index());
            const auto there = at->second.find(domain);
            if (there != at->second.end() &&
                s.later.matching(term, domain) <= desk_.session.tx.promised().at(term, domain)) {
                std::erase_if(there->second, [&](PodId p) {
                    return !is_placed(p) || s.topology.domain(key, s.pods[p].node.index()) != domain;
                });
                if (!std::ranges::all_of(there->second, [&](PodId p) { return placement_holds(desk_, p); }))
                    return false;
            }
        }
        if (const auto at = by_spread_.find(term); at != by_spread_.end()) {
            std::erase_if(at->second, [&](PodId p) { return !is_placed(p); });
            const auto holds = [&](PodId p) { return !asked_.insert(place_of(p)).second || placement_holds(desk_, p); };
            if (!std::ranges::all_of(at->second, holds)) return false;
        }
    }
    return true;
}

}  // namespace reprieve
