// VictimProblem: which units may go, which rules bind a set of them, and what a set costs. An immutable value.
//
// The units come from UnitFinder. What binds a set as a whole, whatever order it was found in:
//   links      a gang that goes whole takes its surplus pods in the list along;
//   splits     a gang does not lose more pods one by one than it can spare (open lists only);
//   budgets    in strict mode, no disruption budget is overdrawn by the set;
//   vote       what queues and quotas let go (plugins/victim_vote.h).
// Whether the demand fits once a set is gone is not part of it: that is the FitQuestion (set_search.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plugins/cost.h"
#include "plugins/victim_vote.h"
#include "search/open_split.h"
#include "search/units.h"

namespace reprieve {

// What a set costs, and to whom.
struct Pricing {
    const Snapshot* snapshot = nullptr;
    const CostOrder* order = nullptr;
    Dim work;                                 // dimension of lostWork; none: not counted
    std::span<const Resources::Amount> need;  // of the demand
    std::span<const QueueId> queue_order;     // reclaim: most over its share first

    [[nodiscard]] Cost cost(const UnitList& list, std::span<const std::uint32_t> units) const;
};

class VictimProblem {
public:
    struct Rules {
        bool open_splits = false;
        bool strict_budgets = false;
        VictimVote* vote = nullptr;
        std::span<const std::uint32_t> vote_order;  // the order in which units are put to the vote
    };
    // REQUIRES: nobody of the list is evicted yet: what budgets have left is read here.
    // `interchangeable_pods`: nothing but class and node tells pods apart for the demand (no devices are asked for).
    VictimProblem(const UnitList& list, const Pricing& pricing, const Rules& rules, bool interchangeable_pods);

    [[nodiscard]] const UnitList& list() const { return list_; }
    [[nodiscard]] std::size_t size() const { return list_.units.size(); }
    [[nodiscard]] Cost cost(std::span<const std::uint32_t> units) const { return pricing_.cost(list_, units); }
    // Units from most to least important.
    [[nodiscard]] std::span<const std::uint32_t> by_importance() const { return by_importance_; }
    // Every rule on sets holds.
    [[nodiscard]] bool allows(std::span<const std::uint32_t> units) const;
    // Some rule is broken that stays broken whoever else goes.
    [[nodiscard]] bool forbids_for_good(std::span<const std::uint32_t> units) const;
    // Strict budgets as linear rules: what each has left, and what each unit would spend of it.
    struct Spend {
        std::uint32_t budget = 0;  // its place in `allowances`
        std::int64_t pods = 0;
    };
    [[nodiscard]] std::span<const std::int64_t> allowances() const { return allowances_; }
    [[nodiscard]] std::span<const Spend> spends(std::uint32_t unit) const {
        return spends_.empty() ? std::span<const Spend>() : std::span<const Spend>(spends_[unit]);
    }
    // Units of one number (> 0) do the same for any demand and cost the same but for their place in the order of
    // importance; 0: alike to nobody.
    [[nodiscard]] std::uint32_t alike(std::uint32_t unit) const { return alike_[unit]; }
    // A set that costs `so_far` already cannot grow into one that costs less than `limit`. Every term of a cost only
    // grows as victims are added, but for the start of the most important one: terms from there on do not cut.
    [[nodiscard]] bool too_dear(std::span<const std::uint32_t> so_far, const Cost& limit) const;

private:
    [[nodiscard]] bool links_hold(std::span<const std::uint32_t> units) const;
    [[nodiscard]] bool overdraws_budgets(std::span<const std::uint32_t> units) const;
    [[nodiscard]] bool votes_for(std::span<const std::uint32_t> units) const;
    void find_alike();
    void read_budgets();

    const UnitList& list_;
    Pricing pricing_;
    Rules rules_;
    std::vector<std::uint32_t> by_importance_;
    std::vector<std::uint32_t> alike_;
    bool linked_ = false;
    std::vector<std::int64_t> allowances_;    // strict: what each budget has left
    std::vector<std::vector<Spend>> spends_;  // by unit
};

}  // namespace reprieve
