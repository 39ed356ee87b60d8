// Who breaks a disruption budget among the units that may go for one node.
//
// The node's own potential victims spend the budgets first, spared ones too (03), then the others in the order of their
// importance. What a unit costs is fixed by that walk, which makes costs add up, but it charges a unit elsewhere for
// others elsewhere that stay. So the cheapest set by the walk need not be the cheapest.
//
// Proof. Let every unit elsewhere be charged only for what it breaks if no other unit elsewhere goes. No set costs more
// that way than it truly does, because the victims elsewhere spend the budgets as well. So if no set is cheaper than
// the best one by these charges, none is cheaper by the true ones. If one is, and its true cost is what it is charged,
// it is the cheapest. Otherwise nothing is proven.
#include <algorithm>

#include "search/node_victims.h"

namespace reprieve {

void NodeVictims::mark_violations(NodeId node, UnitList& list) {
    const Snapshot& s = session_.snapshot;
    by_importance_.resize(list.units.size());
    for (std::uint32_t i = 0; i < by_importance_.size(); ++i)
        by_importance_[i] = i;
    std::ranges::sort(by_importance_, [&](std::uint32_t a, std::uint32_t b) {
        return more_important(s, list, list.units[a], list.units[b]);
    });
    breakers_.clear();
    // In strict mode no set that is allowed breaks a budget.
    if (s.budgets.empty() || rules_.pdb == PdbMode::kStrict) return;
    std::vector<std::uint32_t> order = by_importance_;
    std::ranges::stable_partition(order, [&](std::uint32_t u) {
        return std::ranges::any_of(list.pods_of(list.units[u]), [&](PodId p) { return s.pods[p].node == node; });
    });
    breakers_ = split_by_budget(s, list, order);
}

bool NodeVictims::is_here(NodeId node, const UnitList& list, const Unit& unit) const {
    return std::ranges::any_of(list.pods_of(unit), [&](PodId p) { return session_.snapshot.pods[p].node == node; });
}

// The units of the node from most to least important, then these.
void NodeVictims::charge_after_own(NodeId node, UnitList& list, std::span<const std::uint32_t> elsewhere) {
    const Snapshot& s = session_.snapshot;
    std::vector<std::uint32_t> order;
    for (std::uint32_t u = 0; u < list.units.size(); ++u) {
        if (is_here(node, list, list.units[u])) order.push_back(u);
    }
    std::ranges::sort(
        order, [&](std::uint32_t a, std::uint32_t b) { return more_important(s, list, list.units[a], list.units[b]); });
    order.insert(order.end(), elsewhere.begin(), elsewhere.end());
    static_cast<void>(split_by_budget(s, list, order));
}

bool NodeVictims::forgive_elsewhere(NodeId node, UnitList& list) {
    if (session_.snapshot.budgets.empty() || rules_.pdb == PdbMode::kStrict ||
        !rules_.order->has(CostTerm::kPdbViolations))
        return false;
    bool forgiven = false;
    for (std::uint32_t u = 0; u < list.units.size(); ++u) {
        const std::int32_t charged = list.units[u].violations;
        if (charged == 0 || is_here(node, list, list.units[u])) continue;
        charge_after_own(node, list, std::span(&u, 1));
        forgiven = forgiven || list.units[u].violations < charged;
    }
    return forgiven;
}

std::optional<Proof> NodeVictims::adopt_lenient(NodeId node,
                                                const UnitList& lenient,
                                                bool open,
                                                const SetAnswer& answer,
                                                const std::optional<Cost>& best,
                                                std::optional<Victims>& found) {
    if (open) return {};  // what an open list costs is known of the search alone
    Victims victims{.cost = answer.cost, .proof = {}, .chosen = answer.chosen, .list = lenient};
    std::vector<std::uint32_t> elsewhere;
    std::ranges::copy_if(answer.chosen, std::back_inserter(elsewhere), [&](std::uint32_t u) {
        return !is_here(node, lenient, lenient.units[u]);
    });
    charge_after_own(node, victims.list, elsewhere);
    victims.cost = cost_of(node, victims.list, victims.chosen);
    const bool exact = victims.cost == answer.cost;
    if (!best || victims.cost < *best) found = std::move(victims);
    return exact ? answer.proof : std::nullopt;
}

}  // namespace reprieve
