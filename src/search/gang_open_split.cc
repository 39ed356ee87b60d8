// Other pods of a gang as its surplus than those that its order calls so.
#include <algorithm>
#include <map>

#include "search/gang_victims.h"
#include "search/surplus.h"

namespace reprieve {

std::vector<bool> GangVictims::forced_mask() const {
    std::vector<bool> out(list_.units.size());
    for (std::uint32_t u : forced_)
        out[u] = true;
    return out;
}

std::map<GangId, std::size_t> GangVictims::contest_sizes() const {
    std::map<GangId, std::size_t> out;
    for (const UnitList::Contest& contest : list_.contests)
        out[contest.gang] = contest.pods;
    return out;
}

bool GangVictims::all_listed() const {
    std::map<GangId, std::size_t> left = contest_sizes();
    for (const Unit& unit : list_.units) {
        const auto contest = left.find(unit.gang);
        if (contest == left.end()) continue;
        for (PodId pod : list_.pods_of(unit))
            contest->second -= is_inside(pod) ? 1U : 0U;
    }
    return std::ranges::all_of(left, [](const auto& contest) { return contest.second == 0; });
}

bool GangVictims::splits_matter() {
    // Where pods outside count towards a limit, it is not the nodes alone that say who is needed.
    if (!fit_.counts() || over_limit_) return true;
    const std::vector<bool> forced = forced_mask();
    const std::map<GangId, std::size_t> contests = contest_sizes();
    for (std::uint32_t u = 0; u < list_.units.size(); ++u) {
        const Unit& unit = list_.units[u];
        if (!contests.contains(unit.gang)) continue;
        if (!forced[u]) return true;
        for (PodId pod : list_.pods_of(unit)) {
            if (is_inside(pod) && unit.count > 1 && fits_with(pod)) return true;
        }
    }
    return !all_listed();
}

bool GangVictims::fits_with(PodId pod) {
    session_.tx.restore(pod);
    fit_.changed(std::span(&pod, 1));
    const bool fits = fit_.passes();
    session_.tx.evict(pod);
    fit_.changed(std::span(&pod, 1));
    return fits;
}

void GangVictims::force_overdrawn() {
    if (!rules_.attack.open_split) return;
    const std::vector<bool> forced = forced_mask();
    std::map<std::uint32_t, std::vector<std::uint32_t>> along;  // with each gang that may go whole
    for (std::uint32_t u = 0; u < list_.units.size(); ++u) {
        const std::int32_t whole = list_.units[u].whole;
        if (whole >= 0 && !forced[static_cast<std::size_t>(whole)])
            along[static_cast<std::uint32_t>(whole)].push_back(u);
    }
    for (const auto& [whole, spares] : along) {
        Surplus surplus(session_.snapshot, list_.units[whole].gang);
        const bool spared = std::ranges::all_of(
            spares, [&](std::uint32_t u) { return !forced[u] || surplus.take(list_.pods[list_.units[u].first]); });
        if (spared) continue;
        forced_.push_back(whole);
        std::ranges::copy_if(spares, std::back_inserter(forced_), [&](std::uint32_t u) { return !forced[u]; });
    }
}

// A vote goes through the units in the order that the split belongs to: there it stays as it is, and nothing is proven.
void GangVictims::open_splits() {
    const bool voted = rules_.vote != nullptr && !rules_.vote_alone;
    narrowed_by_vote_ = narrowed_by_vote_ || voted;
    if (!rules_.improve || rules_.attack.open_split || rules_.attack.local_only || voted) return;
    open_rules_ = rules_;
    open_rules_.attack.open_split = true;
    open_rules_.attack.open_single = true;
    open_rules_.breakers = &breakers_;
    open_rules_.settled = &list_;
    open_ = std::make_unique<GangVictims>(session_, placer_, open_rules_, fit_.members(), seat_);
    feasible_ = open_->feasible_;
    none_ = open_->none_;
}

// Who breaks a budget was settled by the order's own split.
void GangVictims::take_over_violations() {
    copy_violations(session_.snapshot, *rules_.settled, *rules_.breakers, rules_.pdb == PdbMode::kStrict, list_);
    std::ranges::stable_partition(importance_, [&](std::uint32_t u) { return list_.units[u].violations > 0; });
}

// A split that is not the order's is worth it only if it costs less.
void GangVictims::search_other_splits(std::optional<GangChoice>& best, std::int64_t budget) {
    const Cost closed = best ? best->bound : bound_;
    std::optional<GangChoice> found = best;
    if (found) {
        found->bound = open_->bound_;
        found->exact = false;
    }
    open_->spent_ = 0;
    open_->search_exactly(found, budget);
    spent_ += open_->spent_;
    if (!found) return;
    if (counts_units()) {
        found->bound = std::min(found->bound, closed);
        found->exact = !(found->bound < found->cost);
    }
    if (best && !(found->cost < best->cost)) {
        best->bound = found->bound;
        best->exact = found->exact;
        return;
    }
    close_splits(found->list, found->chosen);
    best = std::move(found);
}

// In an open split the pods of a gang that goes whole are more units than in the order's: what is a bound for the one
// is none for the other.
bool GangVictims::counts_units() const { return rules_.order->has(CostTerm::kUnits); }

Cost GangVictims::bound() const {
    if (learned_) return *learned_;
    if (!open_) return bound_;
    return counts_units() ? std::min(bound_, open_->bound_) : open_->bound_;
}

}  // namespace reprieve
