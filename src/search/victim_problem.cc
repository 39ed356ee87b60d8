#include "search/victim_problem.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "state/cluster.h"

namespace reprieve {

Cost Pricing::cost(const UnitList& list, std::span<const std::uint32_t> units) const {
    VictimBill bill(*snapshot, *order, work, need, queue_order);
    Losses losses(list);
    for (std::uint32_t at : units) {
        const Unit& unit = list.units[at];
        const QueueId queue = unit.count > 0 ? snapshot->pods[list.pods[unit.first]].queue : QueueId();
        bill.add_unit(losses.breaks(unit), unit.violations, queue);
        for (PodId pod : list.pods_of(unit))
            bill.add_pod(pod, unit.priority);
    }
    return bill.cost();
}

VictimProblem::VictimProblem(const UnitList& list,
                             const Pricing& pricing,
                             const Rules& rules,
                             bool interchangeable_pods)
    : list_(list),
      pricing_(pricing),
      rules_(rules),
      by_importance_(list.units.size()),
      alike_(list.units.size()) {
    std::iota(by_importance_.begin(), by_importance_.end(), 0U);
    std::ranges::sort(by_importance_, [&](std::uint32_t a, std::uint32_t b) {
        return more_important(*pricing.snapshot, list, list.units[a], list.units[b]);
    });
    linked_ = std::ranges::any_of(list.units, [](const Unit& u) { return u.whole >= 0; });
    if (interchangeable_pods) find_alike();
    if (rules.strict_budgets) read_budgets();
}

// Single pods of one class on one node that break a budget alike. Their starts may differ: the less important one of
// two started later, which costs no more.
void VictimProblem::find_alike() {
    if (pricing_.order->has(CostTerm::kLostWork)) return;
    const Snapshot& s = *pricing_.snapshot;
    std::map<std::tuple<ClassId, NodeId, std::int32_t, std::int32_t, std::int32_t, QueueId>, std::uint32_t> numbers;
    for (std::uint32_t u = 0; u < list_.units.size(); ++u) {
        const Unit& unit = list_.units[u];
        if (unit.kind != UnitKind::kPod || unit.count != 1) continue;
        const PodRow& row = s.pods[list_.pods[unit.first]];
        if (row.has(kResizing) || !s.holds[list_.pods[unit.first]].empty()) continue;
        const auto [at, fresh] =
            numbers.try_emplace({row.cls, row.node, unit.priority, row.priority, unit.violations, row.queue},
                                static_cast<std::uint32_t>(numbers.size() + 1));
        alike_[u] = at->second;
    }
}

bool VictimProblem::links_hold(std::span<const std::uint32_t> units) const {
    if (!linked_) return true;
    std::vector<bool> gone(list_.units.size());
    for (std::uint32_t u : units)
        gone[u] = true;
    for (std::size_t u = 0; u < list_.units.size(); ++u) {
        const std::int32_t whole = list_.units[u].whole;
        if (whole >= 0 && gone[static_cast<std::size_t>(whole)] && !gone[u]) return false;
    }
    return true;
}

void VictimProblem::read_budgets() {
    const Snapshot& s = *pricing_.snapshot;
    std::vector<BudgetId> budgets;
    spends_.resize(list_.units.size());
    for (std::size_t u = 0; u < list_.units.size(); ++u) {
        for (PodId pod : list_.pods_of(list_.units[u])) {
            for (BudgetId id : s.class_of(pod).budgets) {
                const BudgetRow& budget = s.budgets[id];
                if (std::ranges::binary_search(budget.fact->disrupted_pods, s.facts->pod(pod).name)) continue;
                const auto at = static_cast<std::uint32_t>(std::ranges::find(budgets, id) - budgets.begin());
                if (at == budgets.size()) {
                    budgets.push_back(id);
                    allowances_.push_back(budget.left);
                }
                auto spend = std::ranges::find(spends_[u], at, &Spend::budget);
                if (spend == spends_[u].end()) spend = spends_[u].insert(spend, Spend{.budget = at});
                ++spend->pods;
            }
        }
    }
}

bool VictimProblem::overdraws_budgets(std::span<const std::uint32_t> units) const {
    if (allowances_.empty()) return false;
    std::vector<std::int64_t> left = allowances_;
    for (std::uint32_t u : units) {
        for (const Spend& spend : spends_[u]) {
            if ((left[spend.budget] -= spend.pods) < 0) return true;
        }
    }
    return false;
}

bool VictimProblem::votes_for(std::span<const std::uint32_t> units) const {
    VictimVote* vote = rules_.vote;
    if (vote == nullptr) return true;
    vote->reset();
    std::vector<bool> voted(list_.units.size());
    for (std::uint32_t u : units)
        voted[u] = true;
    const bool accepted = std::ranges::all_of(
        rules_.vote_order, [&](std::uint32_t u) { return !voted[u] || vote->accept(list_.pods_of(list_.units[u])); });
    return accepted && vote->passes();
}

bool VictimProblem::allows(std::span<const std::uint32_t> units) const {
    return links_hold(units) && !(rules_.open_splits && overdrawn(*pricing_.snapshot, list_, units)) &&
           !overdraws_budgets(units) && votes_for(units);
}

bool VictimProblem::forbids_for_good(std::span<const std::uint32_t> units) const { return overdraws_budgets(units); }

bool VictimProblem::too_dear(std::span<const std::uint32_t> so_far, const Cost& limit) const {
    if (so_far.empty()) return false;
    Cost cost = this->cost(so_far);
    Cost most = limit;
    const auto terms = pricing_.order->terms();
    const auto start = std::ranges::find(terms, CostTerm::kLatestStart);
    if (start == terms.end()) return !(cost < most);
    for (auto i = static_cast<std::size_t>(start - terms.begin()); i < terms.size(); ++i)
        cost.terms[i] = most.terms[i] = 0;
    return most < cost;
}

}  // namespace reprieve
