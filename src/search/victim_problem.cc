#include "search/victim_problem.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "state/budgets.h"

namespace reprieve {

bool Pricing::counts_units() const {
    return order->has(CostTerm::kBreaksGangs) || order->has(CostTerm::kGangsBroken) || order->has(CostTerm::kUnits);
}

Cost Pricing::cost(const UnitList& list,
                   std::span<const std::uint32_t> units,
                   std::span<const SharedClaims::Claim* const> needed) const {
    VictimBill bill(*snapshot, *order, work, *need, queue_order);
    const JoinedUnits joined(list, units, needed);
    Losses losses(list);
    for (std::size_t i = 0; i < units.size(); ++i) {
        const Unit& unit = list.units[units[i]];
        const QueueId queue = unit.count > 0 ? snapshot->pods[list.pods[unit.first]].queue : QueueId();
        if (joined.group_at(i) >= 0)
            bill.add_part(unit.violations, queue);
        else
            bill.add_unit(losses.breaks(unit), unit.violations, queue);
        for (PodId pod : list.pods_of(unit))
            bill.add_pod(pod, unit.priority);
    }
    for (const JoinedUnits::Group& group : joined.groups()) {
        const std::int64_t gangs = std::ranges::count_if(
            group.units, [&](std::uint32_t u) { return is_whole_gang(*snapshot, list.units[u]); });
        bill.add_units(std::max<std::int64_t>(1, gangs), std::max<std::int64_t>(1, gangs));
    }
    return bill.cost();
}

// Units that may be joined count as one for all of them that may be joined together, and gangs each; and only where one
// of them breaks something by itself is it sure that something is broken. Pods whose gang loses them one by one break
// it or not, depending on who is joined: those that may be are left out.
Cost Pricing::least(const UnitList& list, std::span<const std::uint32_t> units, const SharedClaims& shared) const {
    if (shared.empty()) return cost(list, units);
    struct Part {
        std::int32_t number = -1;
        std::int64_t gangs = 0;
        bool breaks = false;
    };
    std::vector<Part> parts;
    VictimBill bill(*snapshot, *order, work, *need, queue_order);
    Losses losses(list);
    for (std::uint32_t at : units) {
        const Unit& unit = list.units[at];
        const QueueId queue = unit.count > 0 ? snapshot->pods[list.pods[unit.first]].queue : QueueId();
        if (const std::int32_t number = shared.part_of(at); number >= 0) {
            auto part = std::ranges::find(parts, number, &Part::number);
            if (part == parts.end()) part = parts.insert(part, Part{.number = number});
            part->gangs += is_whole_gang(*snapshot, unit) ? 1 : 0;
            part->breaks = part->breaks || unit.kind != UnitKind::kSafe;
            bill.add_part(unit.violations, queue);
        } else {
            bill.add_unit(losses.breaks(unit), unit.violations, queue);
        }
        for (PodId pod : list.pods_of(unit))
            bill.add_pod(pod, unit.priority);
    }
    for (const Part& part : parts) {
        const std::int64_t count = std::max<std::int64_t>(1, part.gangs);
        bill.add_units(count, part.breaks ? count : 0);
    }
    return bill.cost();
}

Cost Pricing::share_of(const UnitList& list, std::uint32_t at, const SharedClaims& shared) const {
    VictimBill bill(*snapshot, *order, work, *need, queue_order);
    bill.leave_out(shared.tied());
    const Unit& unit = list.units[at];
    const QueueId queue = unit.count > 0 ? snapshot->pods[list.pods[unit.first]].queue : QueueId();
    if (shared.part_of(at) >= 0 && !is_whole_gang(*snapshot, unit))
        bill.add_part(unit.violations, queue);
    else
        bill.add_unit(Losses(list).breaks(unit), unit.violations, queue);
    for (PodId pod : list.pods_of(unit))
        bill.add_pod(pod, unit.priority);
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
    shared_ = SharedClaims(*pricing.snapshot, list, rules.claims_devices && pricing.counts_units());
    linked_ = std::ranges::any_of(list.units, [](const Unit& u) { return u.whole >= 0; });
    if (interchangeable_pods) find_alike();
    at_most_ = rules_of_units(*pricing.snapshot, list, rules.at_most);
    if (rules.strict_budgets) read_budgets();
    tell_units();
    lets_all_ = rules.vote != nullptr && rules.vote->lets_all(list.pods);
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
    const std::size_t first = at_most_.size();
    for (std::uint32_t u = 0; u < list_.units.size(); ++u) {
        for (PodId pod : list_.pods_of(list_.units[u])) {
            for (BudgetId id : s.class_of(pod).budgets) {
                if (!takes_from(s, pod, id)) continue;
                const auto at = static_cast<std::size_t>(std::ranges::find(budgets, id) - budgets.begin());
                if (at == budgets.size()) {
                    budgets.push_back(id);
                    at_most_.push_back(
                        {.amount = std::max<std::int64_t>(s.budgets[id].left, 0), .gifts = {}, .givers = {}});
                }
                std::vector<GiveRules::Gift>& gifts = at_most_[first + at].gifts;
                if (gifts.empty() || gifts.back().unit != u) gifts.push_back({.unit = u});
                ++gifts.back().amount;
            }
        }
    }
}

void VictimProblem::tell_units() {
    if (at_most_.empty()) return;
    spends_.resize(list_.units.size());
    for (std::uint32_t r = 0; r < at_most_.size(); ++r) {
        for (const GiveRules::Gift& gift : at_most_[r].gifts)
            spends_[gift.unit].push_back({.rule = r, .amount = gift.amount});
    }
}

std::vector<std::uint32_t> VictimProblem::return_order() const {
    std::vector<std::uint32_t> order = by_importance_;
    std::ranges::stable_partition(order, [&](std::uint32_t u) { return list_.units[u].violations > 0; });
    return order;
}

bool VictimProblem::overdraws(std::span<const std::uint32_t> units) const {
    if (at_most_.empty()) return false;
    std::vector<std::int64_t> spent(at_most_.size());
    for (std::uint32_t u : units) {
        for (const Spend& spend : spends_[u]) {
            spent[spend.rule] = saturating_add(spent[spend.rule], spend.amount);
            if (spent[spend.rule] > at_most_[spend.rule].amount) return true;
        }
    }
    return false;
}

bool VictimProblem::votes_for(std::span<const std::uint32_t> units) const {
    VictimVote* vote = rules_.vote;
    if (vote == nullptr || lets_all_) return true;
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
           !overdraws(units) && votes_for(units);
}

bool VictimProblem::forbids_for_good(std::span<const std::uint32_t> units) const { return overdraws(units); }

bool VictimProblem::too_dear(std::span<const std::uint32_t> so_far, const Cost& limit) const {
    if (so_far.empty()) return false;
    Cost cost = least(so_far);
    Cost most = limit;
    const auto terms = pricing_.order->terms();
    const auto start = std::ranges::find(terms, CostTerm::kLatestStart);
    if (start == terms.end()) return !(cost < most);
    for (auto i = static_cast<std::size_t>(start - terms.begin()); i < terms.size(); ++i)
        cost.terms[i] = most.terms[i] = 0;
    return most < cost;
}

}  // namespace reprieve
