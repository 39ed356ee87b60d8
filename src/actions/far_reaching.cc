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
        for (TermId term : cls.affinity)
            by_affinity_[term].insert(op.pod);
        for (const ClassSpread& spread : cls.spread)
            by_spread_[spread.term].insert(op.pod);
    }
}

std::vector<PodId> FarReaching::pods() const {
    std::set<PodId> found;
    for (const auto* by_term : {&by_affinity_, &by_spread_}) {
        for (const auto& [term, pods] : *by_term)
            std::ranges::copy_if(pods, std::inserter(found, found.end()), [&](PodId p) { return is_placed(p); });
    }
    return {found.begin(), found.end()};
}

bool FarReaching::hold_since(Transaction::Checkpoint start) {
    if (by_affinity_.empty() && by_spread_.empty()) return true;
    asked_.clear();
    std::vector<std::pair<PodId, NodeId>> gone;
    for (const Op& op : desk_.session.tx.since(start)) {
        if (op.kind == OpKind::kEvict && op.sign > 0) gone.emplace_back(op.pod, op.node);
    }
    return std::ranges::all_of(gone, [&](const auto& item) { return hold_without(item.first, item.second); });
}

FarReaching::Place FarReaching::place_of(PodId pod) const {
    const Snapshot& s = desk_.session.snapshot;
    Place place{s.pods[pod].cls, {}};
    for (const ClassSpread& spread : s.class_of(pod).spread)
        place.second.push_back(s.topology.domain(spread.key, s.pods[pod].node.index()));
    return place;
}

// Affinity loses company in the domain of the pod that is gone, and nowhere else. Spread compares all domains with the
// emptiest one, which may now be emptier: there everybody who counts that pod is asked, once per place.
bool FarReaching::hold_without(PodId gone, NodeId node) {
    const Snapshot& s = desk_.session.snapshot;
    for (TermId term : s.class_of(gone).matched) {
        if (const auto at = by_affinity_.find(term); at != by_affinity_.end()) {
            std::erase_if(at->second, [&](PodId p) { return !is_placed(p); });
            const TopologyKeyId key = s.terms[term].key;
            const auto near = [&](PodId p) {
                return s.topology.domain(key, s.pods[p].node.index()) == s.topology.domain(key, node.index());
            };
            const auto holds = [&](PodId p) { return !near(p) || placement_holds(desk_, p); };
            if (!std::ranges::all_of(at->second, holds)) return false;
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
