#include "search/fixed_walk.h"

#include <algorithm>
#include <utility>

#include "search/budgets_left.h"
#include "search/surplus.h"

namespace reprieve {

FixedWalk::FixedWalk(Transaction& tx, const Snapshot& snapshot, const VictimProblem& problem)
    : tx_(tx),
      snapshot_(snapshot),
      problem_(problem),
      list_(problem.list()),
      gone_(problem.size()),
      spent_(problem.at_most().size()),
      along_of_(problem.size()) {
    for (std::uint32_t u = 0; u < list_.units.size(); ++u) {
        if (list_.units[u].whole >= 0) along_of_[static_cast<std::size_t>(list_.units[u].whole)].push_back(u);
    }
}

// The gang keeps its minimums without this pod, too.
bool FixedWalk::is_spareable(const Unit& unit) const {
    return unit.count == 1 && !snapshot_.gangs[unit.gang].one_unit() &&
           can_spare(snapshot_, unit.gang, list_.pods_of(unit), {});
}

void FixedWalk::add_along(std::uint32_t whole, Step& step) const {
    step.kind = UnitKind::kWhole;
    step.units.clear();
    std::ranges::copy_if(along_of_[whole], std::back_inserter(step.units), [&](std::uint32_t u) { return !gone_[u]; });
    step.units.push_back(whole);
}

std::optional<FixedWalk::Step> FixedWalk::step_with(std::uint32_t unit) const {
    const Unit& one = list_.units[unit];
    Step step{.kind = one.kind, .units = {unit}};
    if (one.kind == UnitKind::kWhole) add_along(unit, step);
    if (problem_.open_splits() && one.kind != UnitKind::kPod) {
        if (is_spareable(one))
            step.kind = UnitKind::kSafe;
        else if (goes_pod_by_pod(snapshot_.gangs[one.gang]))
            step.kind = UnitKind::kWhole;
        else if (one.kind == UnitKind::kSafe && one.whole < 0)
            return std::nullopt;  // some pod of the gang may not go
        else if (one.kind == UnitKind::kSafe)
            add_along(static_cast<std::uint32_t>(one.whole), step);
    }
    if (!is_allowed(step.units)) return std::nullopt;
    return step;
}

bool FixedWalk::is_allowed(std::span<const std::uint32_t> units) const {
    if (spent_.empty()) return true;
    std::vector<std::int64_t> spent = spent_;
    return std::ranges::all_of(units, [&](std::uint32_t u) {
        return std::ranges::all_of(problem_.spends(u), [&](const VictimProblem::Spend& spend) {
            spent[spend.rule] = saturating_add(spent[spend.rule], spend.amount);
            return spent[spend.rule] <= problem_.at_most()[spend.rule].amount;
        });
    });
}

bool FixedWalk::breaks_budget(const Step& step) const {
    if (snapshot_.budgets.empty()) return false;
    BudgetsLeft left(snapshot_);
    return !std::ranges::all_of(pods_of(step.units), [&](PodId pod) { return left.take(pod); });
}

std::uint32_t FixedWalk::take(Step step, std::uint32_t walker) {
    step.walker = walker;
    step.number = taken_++;
    move(step.units, true);
    steps_.push_back(std::move(step));
    return steps_.back().number;
}

void FixedWalk::move(std::span<const std::uint32_t> units, bool out) {
    for (std::uint32_t u : units) {
        for (PodId pod : list_.pods_of(list_.units[u])) {
            if (out)
                tx_.evict(pod);
            else
                tx_.restore(pod);
        }
        gone_[u] = out;
        for (const VictimProblem::Spend& spend : problem_.spends(u))
            spent_[spend.rule] += out ? spend.amount : -spend.amount;
    }
}

bool FixedWalk::bring_back(std::span<const std::uint32_t> units,
                           const std::function<bool(std::span<const PodId>)>& is_spared) {
    move(units, false);
    // Nobody comes back into a gang that is gone without it.
    const bool bound = std::ranges::any_of(units, [&](std::uint32_t u) { return problem_.is_bound(u, gone_); });
    if (!bound && is_spared(pods_of(units))) return true;
    move(units, true);
    return false;
}

void FixedWalk::give_back(const std::function<bool(std::span<const PodId>)>& is_spared, std::uint32_t walker) {
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
        if (step->walker != walker) continue;
        if (problem_.open_splits()) {
            if (bring_back(step->units, is_spared)) step->units.clear();
            continue;
        }
        for (std::size_t i = step->units.size(); i-- > 0;) {
            if (bring_back(std::span(step->units).subspan(i, 1), is_spared))
                step->units.erase(step->units.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }
    std::erase_if(steps_, [](const Step& step) { return step.units.empty(); });
}

std::vector<PodId> FixedWalk::pods_of(std::span<const std::uint32_t> units) const {
    std::vector<PodId> pods;
    for (std::uint32_t u : units) {
        const auto own = list_.pods_of(list_.units[u]);
        pods.insert(pods.end(), own.begin(), own.end());
    }
    return pods;
}

Unit FixedWalk::as_unit(const Step& step) const {
    Unit unit = list_.units[step.units.back()];
    unit.kind = step.kind;
    unit.whole = -1;
    unit.violations = 0;
    unit.count = 0;
    for (std::uint32_t u : step.units) {
        unit.count += list_.units[u].count;
        unit.start_us = std::min(unit.start_us, list_.units[u].start_us);
    }
    return unit;
}

}  // namespace reprieve
