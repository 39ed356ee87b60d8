// SetSearch: the cheapest set of units whose going lets a demand in, by branch and bound within a budget of work.
//
// Units are decided one after another from the most to the least important: it stays, or it goes. Those that are not
// decided yet are gone meanwhile. A branch is cut
//   1. when what it evicts already costs as much as the best set known (VictimProblem::too_dear);
//   2. when the demand cannot fit whoever else stays: FitQuestion::may_fit, asked with everybody gone who is not kept.
//      Where the question is monotone that is the question itself; where it is not, it is the monotone part of it;
//   3. when a rule is broken for good (strict budgets);
//   4. when a unit stays although one that is alike and more important goes: exchanging the two costs no more.
// So a search that ends before its budget has looked at every set that could be cheaper, and returns a Proof.
// Where units share claims (shared_claims.h) a set may cost less than part of it, and only sets count of which nobody
// can be spared.
// Of sets that cost the same the first one met stays: it spares the most important units.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "search/proof.h"
#include "search/victim_problem.h"
#include "search/work_budget.h"

namespace reprieve {

// Does the demand fit once exactly those units are gone that were taken?
class FitQuestion {
public:
    FitQuestion() = default;
    FitQuestion(const FitQuestion&) = delete;
    FitQuestion& operator=(const FitQuestion&) = delete;
    virtual ~FitQuestion() = default;

    // The unit goes, or comes back.
    virtual void take(std::uint32_t unit) = 0;
    virtual void give(std::uint32_t unit) = 0;
    [[nodiscard]] virtual bool fits() = 0;
    // Whether evicting more can only help.
    [[nodiscard]] virtual bool monotone() const = 0;
    // Necessary for every set between those that must go and those that are taken. Where the question is monotone it
    // is `fits`.
    [[nodiscard]] virtual bool may_fit() { return fits(); }
    // Every "no" so far was the last word: all ways of placing the demand were tried.
    [[nodiscard]] virtual bool certain() const { return true; }
    // Its devices stay held, whoever has gone, until they are let go again. Asked only where units share claims.
    virtual void hold(DeviceClaimId /*claim*/, bool /*held*/) {}
    // What one look takes, in units of work.
    [[nodiscard]] virtual std::int64_t work() const = 0;
    // Whether these alone are enough, where that is known without taking and giving; monotone questions only.
    [[nodiscard]] virtual bool known_to_suffice(std::span<const std::uint32_t> /*units*/) const { return false; }
};

struct SetAnswer {
    bool found = false;
    std::vector<std::uint32_t> chosen;  // from most to least important
    Cost cost;
    // No allowed set costs less than what was found; or, where nothing was, than the limit.
    std::optional<Proof> proof;
};

class SetSearch {
public:
    static constexpr std::size_t kMostUnits = 64;

    // REQUIRES: nothing of the problem is taken.
    SetSearch(const VictimProblem& problem, FitQuestion& question, WorkBudget& budget);

    // Only sets that cost less than the limit count; null: all. Nothing is taken when it returns.
    [[nodiscard]] SetAnswer run(const Cost* limit);

private:
    void descend(std::size_t depth, bool changed);
    void meet();
    [[nodiscard]] bool needs_all();
    [[nodiscard]] Cost price();
    [[nodiscard]] bool must_go(std::uint32_t unit) const;
    void drop_superfluous();

    const VictimProblem& problem_;
    FitQuestion& question_;
    WorkBudget& budget_;
    SetAnswer best_;
    std::optional<Cost> limit_;
    std::vector<std::uint32_t> going_;
    std::vector<std::int32_t> alike_gone_;  // by number of likeness: how many of them go
};

}  // namespace reprieve
