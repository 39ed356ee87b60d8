// The seed's walks on one node: remove and add back, by arithmetic or in a dry run.
#include <algorithm>
#include <array>

#include "search/budgets_left.h"
#include "search/node_victims.h"

namespace reprieve {

bool NodeVictims::walk(NodeId node, Victims& out) {
    if (walk_once(node, out)) return true;
    if (rules_.pdb != PdbMode::kStrict || session_.snapshot.budgets.empty()) return false;
    // Budgets limit the set, not the order: whoever spends them first may come back in the end.
    out.chosen.clear();
    whatever_budgets_ = true;
    const bool found = walk_once(node, out) && within_budgets(out);
    whatever_budgets_ = false;
    return found;
}

bool NodeVictims::within_budgets(const Victims& victims) const {
    BudgetsLeft left(session_.snapshot);
    return std::ranges::all_of(victims.chosen, [&](std::uint32_t u) {
        return left.take_together(victims.list.pods_of(victims.list.units[u]));
    });
}

bool NodeVictims::walk_once(NodeId node, Victims& out) {
    list_local(node, out.list);
    complete_ = !looks_elsewhere() && relief_.empty();
    if (read_only()) {
        if (limit_binds_) complete_ = list_all(node, false, out.list);
        return walk_by_amounts(node, out);
    }
    if (!out.list.units.empty() && walk_by_dry_run(node, out)) return true;
    if (asker_.resize || complete_) return false;
    // Somebody on another node may be in the way.
    complete_ = list_all(node, false, out.list);
    out.chosen.clear();
    return !out.list.units.empty() && walk_by_dry_run(node, out);
}

// Whether the unit has a pod that is barred, would take one along, or finds its budgets spent.
bool NodeVictims::stays_put(const UnitList& list, std::uint32_t unit) const {
    if (!over_budget_.empty() && over_budget_[unit]) return true;
    if (!barred_) return false;
    const auto has_it = [&](const Unit& u) {
        return std::ranges::find(list.pods_of(u), barred_) != list.pods_of(u).end();
    };
    return has_it(list.units[unit]) || std::ranges::any_of(list.units, [&](const Unit& u) {
               return u.whole == static_cast<std::int32_t>(unit) && has_it(u);
           });
}

// The walk looks at units one by one in victim order; what budgets do not allow then stays out of it.
void NodeVictims::bar_over_budget(const UnitList& list) {
    over_budget_.clear();
    if (rules_.pdb == PdbMode::kStrict && !whatever_budgets_) over_budget_ = over_budget(session_.snapshot, list);
}

std::optional<Cost> NodeVictims::runner_up(NodeId node, const Victims& victims) {
    constexpr std::size_t kMostTries = 8;
    std::optional<Cost> found;
    for (std::size_t i = 0; i < std::min(victims.chosen.size(), kMostTries) && !found; ++i) {
        barred_ = victims.list.pods_of(victims.list.units[victims.chosen[i]]).front();
        Victims other;
        if (!walk(node, other)) continue;
        const Cost cost = cost_of(node, other.list, other.chosen);
        if (!(cost < victims.cost)) found = cost;
    }
    barred_ = {};
    return found;
}

bool NodeVictims::walk_by_amounts(NodeId node, Victims& out) {
    std::array<std::int64_t, kMostShortages> missing{};
    const Shortages needed = shortages(node);
    walked_.start_anew();
    for (const Shortage& what : needed)
        walked_.add(what.dim);
    // Whatever is missing, nobody can give it; or it fits: no business of ours.
    if (out.list.units.empty() || needed.size() == 0) return false;
    bar_over_budget(out.list);
    for (std::size_t i = 0; i < needed.size(); ++i) {
        missing[i] = needed[i].missing;
        for (std::uint32_t u = 0; u < out.list.units.size(); ++u)
            missing[i] -= stays_put(out.list, u) ? 0 : freed(out.list, out.list.units[u], node, needed[i]);
        // What all of them free, however much is missing.
        const std::int64_t all = needed[i].missing - missing[i];
        if (missing[i] > 0) {
            walked_.keep_above(i, all);
            return false;
        }
        walked_.keep_up_to(i, all);
    }
    mark_violations(node, out.list);
    order_for_return(out.list);
    for (std::uint32_t at : return_order_) {
        if (stays_put(out.list, at)) continue;
        const Unit& unit = out.list.units[at];
        bool stays =
            unit.whole < 0 || std::ranges::find(out.chosen, static_cast<std::uint32_t>(unit.whole)) == out.chosen.end();
        for (std::size_t i = 0; stays && i < needed.size(); ++i) {
            // What those free who are gone, without this one.
            const std::int64_t left = needed[i].missing - missing[i] - freed(out.list, unit, node, needed[i]);
            stays = needed[i].missing <= left;
            if (stays)
                walked_.keep_up_to(i, left);
            else
                walked_.keep_above(i, left);
        }
        if (!stays) {
            out.chosen.push_back(at);
            continue;
        }
        for (std::size_t i = 0; i < needed.size(); ++i)
            missing[i] += freed(out.list, unit, node, needed[i]);
    }
    return true;
}

bool NodeVictims::walk_by_dry_run(NodeId node, Victims& out) {
    // Budgets are walked as they stand before the dry run.
    bar_over_budget(out.list);
    mark_violations(node, out.list);
    order_for_return(out.list);
    const auto start = session_.tx.checkpoint();
    const bool found = monotone_ ? remove_all_then_add_back(node, out) : remove_until_it_passes(node, out);
    session_.tx.rollback(start);
    return found;
}

bool NodeVictims::remove_all_then_add_back(NodeId node, Victims& out) {
    for (std::uint32_t at : return_order_) {
        if (stays_put(out.list, at)) continue;
        out.chosen.push_back(at);
        for (PodId pod : out.list.pods_of(out.list.units[at]))
            session_.tx.evict(pod);
    }
    if (!passes(node)) return false;
    add_back(node, out);
    return true;
}

bool NodeVictims::remove_until_it_passes(NodeId node, Victims& out) {
    const auto goes = [&](std::uint32_t u) { return std::ranges::find(out.chosen, u) != out.chosen.end(); };
    const auto take = [&](std::uint32_t u) {
        if (goes(u)) return;
        out.chosen.push_back(u);
        for (PodId pod : out.list.pods_of(out.list.units[u]))
            session_.tx.evict(pod);
    };
    bool fits = false;
    for (auto at = return_order_.rbegin(); at != return_order_.rend() && !fits; ++at) {
        if (stays_put(out.list, *at)) continue;
        take(*at);
        // A gang that goes takes its surplus pods along.
        for (std::uint32_t u = 0; u < out.list.units.size(); ++u) {
            if (out.list.units[u].whole == static_cast<std::int32_t>(*at)) take(u);
        }
        fits = passes(node);
    }
    if (fits) add_back(node, out);
    return fits;
}

// REQUIRES: the chosen units are gone and the pod passes. Whoever still leaves it passing comes back.
void NodeVictims::add_back(NodeId node, Victims& out) {
    Transaction& tx = session_.tx;
    std::vector<std::uint32_t> gone;
    gone.swap(out.chosen);
    for (std::uint32_t at : return_order_) {
        if (std::ranges::find(gone, at) == gone.end()) continue;
        const Unit& unit = out.list.units[at];
        const bool along = unit.whole >= 0 &&
                           std::ranges::find(out.chosen, static_cast<std::uint32_t>(unit.whole)) != out.chosen.end();
        if (!along) {
            const auto mark = tx.checkpoint();
            for (PodId pod : out.list.pods_of(unit))
                tx.restore(pod);
            if (passes(node)) continue;
            tx.rollback(mark);
        }
        out.chosen.push_back(at);
    }
}

}  // namespace reprieve
