#include "search/set_search.h"

#include <algorithm>

namespace reprieve {

SetSearch::SetSearch(const VictimProblem& problem, FitQuestion& question, WorkBudget& budget)
    : problem_(problem),
      question_(question),
      budget_(budget),
      alike_gone_(problem.size() + 1) {}

SetAnswer SetSearch::run(const Cost* limit) {
    if (problem_.size() > kMostUnits) return {};
    if (limit != nullptr) limit_ = *limit;
    for (std::uint32_t unit : problem_.by_importance())
        question_.take(unit);
    descend(0, true);
    for (std::uint32_t unit : problem_.by_importance())
        question_.give(unit);
    if (best_.found && problem_.shared().empty()) drop_superfluous();
    if (!budget_.exhausted() && question_.certain()) best_.proof = Proof::exhausted(budget_);
    return std::move(best_);
}

void SetSearch::descend(std::size_t depth, bool changed) {
    budget_.spend(1 + (changed ? question_.work() : 0));
    if (budget_.exhausted()) return;
    if (limit_ && problem_.too_dear(going_, *limit_)) return;
    if (changed && !question_.may_fit()) return;
    const auto order = problem_.by_importance();
    if (depth == order.size() || (!going_.empty() && question_.known_to_suffice(going_) && problem_.allows(going_))) {
        meet();
        return;
    }
    const std::uint32_t unit = order[depth];
    if (!must_go(unit)) {
        question_.give(unit);
        descend(depth + 1, true);
        question_.take(unit);
    }
    going_.push_back(unit);
    ++alike_gone_[problem_.alike(unit)];
    if (!problem_.forbids_for_good(going_)) descend(depth + 1, false);
    --alike_gone_[problem_.alike(unit)];
    going_.pop_back();
}

// One that is alike and more important goes, or the gang that takes it along does.
bool SetSearch::must_go(std::uint32_t unit) const {
    const std::uint32_t number = problem_.alike(unit);
    if (number > 0 && alike_gone_[number] > 0) return true;
    const std::int32_t whole = problem_.list().units[unit].whole;
    return whole >= 0 && std::ranges::find(going_, static_cast<std::uint32_t>(whole)) != going_.end();
}

// Everything is decided, or those that go are enough by themselves.
void SetSearch::meet() {
    if (going_.empty() || !problem_.allows(going_)) return;
    if (!question_.monotone()) {
        budget_.spend(question_.work());
        if (!question_.fits()) return;
    }
    const Cost cost = price();
    if (limit_ && !(cost < *limit_)) return;
    if (!problem_.shared().empty() && !needs_all()) return;
    limit_ = cost;
    best_.found = true;
    best_.cost = cost;
    best_.chosen = going_;
}

// REQUIRES: exactly those who go are gone.
Cost SetSearch::price() {
    if (problem_.shared().empty()) return problem_.cost(going_);
    const auto needed = problem_.shared().needed(
        going_,
        [&](DeviceClaimId claim, bool held) { question_.hold(claim, held); },
        [&] {
            budget_.spend(question_.work());
            return question_.fits();
        });
    return problem_.cost(going_, needed);
}

// Without any one of them the demand does not fit, or the rest may not go.
bool SetSearch::needs_all() {
    for (std::uint32_t unit : going_) {
        std::vector<std::uint32_t> rest = going_;
        std::erase(rest, unit);
        if (rest.empty() || !problem_.allows(rest)) continue;
        budget_.spend(question_.work());
        question_.give(unit);
        const bool fits = question_.fits();
        question_.take(unit);
        if (fits) return false;
    }
    return true;
}

// An order of terms that does not count pods may tie a set with one of fewer units; and where the budget ended, the set
// at hand may be the first one met.
void SetSearch::drop_superfluous() {
    for (std::size_t i = 0; i < best_.chosen.size() && best_.chosen.size() > 1;) {
        std::vector<std::uint32_t> rest = best_.chosen;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
        bool enough = problem_.allows(rest);
        if (enough) {
            for (std::uint32_t unit : rest)
                question_.take(unit);
            enough = question_.fits();
            for (std::uint32_t unit : rest)
                question_.give(unit);
        }
        if (!enough) {
            ++i;
            continue;
        }
        best_.chosen = std::move(rest);
        best_.cost = std::min(best_.cost, problem_.cost(best_.chosen));
    }
}

}  // namespace reprieve
