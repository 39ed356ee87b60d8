// VictimProblem: which units may go, which rules bind a set of them, and what a set costs. An immutable value.
//
// The units come from UnitFinder. What binds a set as a whole, whatever order it was found in:
//   links      a gang that goes whole takes its surplus pods in the list along;
//   splits     a gang does not lose more pods one by one than it can spare (open lists only);
//   at most    linear rules: in strict mode no disruption budget is overdrawn by the set, and no queue gives what it is
//              guaranteed. Whoever overdraws one overdraws it whoever else goes;
//   vote       what queues and quotas let go (plugins/victim_vote.h).
// Whether the demand fits once a set is gone is not part of it: that is the FitQuestion (set_search.h).
//
// Every action that evicts builds one. preempt, gangPreempt, gangReclaim and jobPreempt search it for the cheapest set
// (SetSearch, CoverSearch); revoke and queueBalance take from it by a fixed order (FixedWalk); the last look gives back
// what it has (actions/spare.cc).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plugins/cost.h"
#include "plugins/give_rule.h"
#include "plugins/victim_vote.h"
#include "search/give_rules.h"
#include "search/open_split.h"
#include "search/shared_claims.h"
#include "search/units.h"

namespace reprieve {

// What a set costs, and to whom.
struct Pricing {
    const Snapshot* snapshot = nullptr;
    const CostOrder* order = nullptr;
    WorkResource work;                     // of lostWork; none: not counted
    const DemandNeed* need = nullptr;      // of the demand
    std::span<const QueueId> queue_order;  // reclaim: most over its share first

    // `needed`: claims that these units share and the demand needs; they make units one.
    [[nodiscard]] Cost cost(const UnitList& list,
                            std::span<const std::uint32_t> units,
                            std::span<const SharedClaims::Claim* const> needed = {}) const;
    // No set with these units costs less, whoever is joined to whom in it.
    [[nodiscard]] Cost least(const UnitList& list,
                             std::span<const std::uint32_t> units,
                             const SharedClaims& shared) const;
    // What the unit adds to any set at least.
    [[nodiscard]] Cost share_of(const UnitList& list, std::uint32_t unit, const SharedClaims& shared) const;
    // Whether what is a unit makes a difference.
    [[nodiscard]] bool counts_units() const;
};

class VictimProblem {
public:
    struct Rules {
        bool open_splits = false;
        bool strict_budgets = false;
        // What queues may give at the most; read by the constructor. REQUIRES: none of them is `at_least`.
        std::span<const GiveRule> at_most;
        VictimVote* vote = nullptr;
        std::span<const std::uint32_t> vote_order;  // the order in which units are put to the vote
        bool claims_devices = false;                // the demand does
    };
    // REQUIRES: nobody of the list is evicted yet: what budgets have left is read here.
    // `interchangeable_pods`: nothing but class and node tells pods apart for the demand (no devices are asked for).
    VictimProblem(const UnitList& list, const Pricing& pricing, const Rules& rules, bool interchangeable_pods);

    [[nodiscard]] const UnitList& list() const { return list_; }
    [[nodiscard]] std::size_t size() const { return list_.units.size(); }
    // What these units cost. Where units are joined by claims (`shared`), with those of them that are needed.
    [[nodiscard]] Cost cost(std::span<const std::uint32_t> units,
                            std::span<const SharedClaims::Claim* const> needed = {}) const {
        return pricing_.cost(list_, units, needed);
    }
    // No set with these units costs less; and what a unit adds to any set at least.
    [[nodiscard]] Cost least(std::span<const std::uint32_t> units) const {
        return pricing_.least(list_, units, shared_);
    }
    [[nodiscard]] Cost share_of(std::uint32_t unit) const { return pricing_.share_of(list_, unit, shared_); }
    [[nodiscard]] const SharedClaims& shared() const { return shared_; }
    [[nodiscard]] bool open_splits() const { return rules_.open_splits; }
    // Units from most to least important.
    [[nodiscard]] std::span<const std::uint32_t> by_importance() const { return by_importance_; }
    // The order in which units come back: budget breakers first, each group from most to least important.
    [[nodiscard]] std::vector<std::uint32_t> return_order() const;
    // Its gang goes whole, so it goes, too. `gone`: by unit.
    [[nodiscard]] bool is_bound(std::uint32_t unit, const std::vector<bool>& gone) const {
        const std::int32_t whole = list_.units[unit].whole;
        return whole >= 0 && gone[static_cast<std::size_t>(whole)];
    }
    // Every rule on sets holds.
    [[nodiscard]] bool allows(std::span<const std::uint32_t> units) const;
    // Some rule is broken that stays broken whoever else goes.
    [[nodiscard]] bool forbids_for_good(std::span<const std::uint32_t> units) const;
    // The linear rules, told of units, and what each unit takes from them.
    struct Spend {
        std::uint32_t rule = 0;  // its place in `at_most`
        std::int64_t amount = 0;
    };
    [[nodiscard]] std::span<const GiveRules::Rule> at_most() const { return at_most_; }
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
    [[nodiscard]] bool overdraws(std::span<const std::uint32_t> units) const;
    [[nodiscard]] bool votes_for(std::span<const std::uint32_t> units) const;
    void find_alike();
    void read_budgets();
    void tell_units();

    const UnitList& list_;
    Pricing pricing_;
    Rules rules_;
    SharedClaims shared_;
    std::vector<std::uint32_t> by_importance_;
    std::vector<std::uint32_t> alike_;
    bool linked_ = false;
    bool lets_all_ = false;  // the vote does, whoever of the list goes
    std::vector<GiveRules::Rule> at_most_;
    std::vector<std::vector<Spend>> spends_;  // by unit; empty: there is no such rule
};

}  // namespace reprieve
