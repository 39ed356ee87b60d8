// GiveRules: what quotas and limits ask of the units that go, by arithmetic.
//
// While units are decided one by one, a rule may leave no choice: whoever would give too much stays, whoever is needed
// goes. A set of units is allowed exactly when every rule holds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plugins/give_rule.h"
#include "search/slot_cover.h"
#include "search/units.h"

namespace reprieve {

// Whether every pod gives back all that it asks for: none was promised more than it has.
[[nodiscard]] bool gives_what_it_asks(const Snapshot& snapshot, const UnitList& list);

class GiveRules {
public:
    struct Gift {
        std::uint32_t unit = 0;
        std::int64_t amount = 0;
    };
    // A rule told of units.
    struct Rule {
        bool at_least = false;  // else at most
        std::int64_t amount = 0;
        std::vector<Gift> gifts;  // of those who give something, in their order
        bool always = true;
        std::vector<std::uint32_t> givers;  // units with which it holds, if not always
    };

    GiveRules() = default;
    // `whole_of`: of each unit the one that does not go without it; -1: none.
    GiveRules(std::vector<std::int32_t> whole_of, std::vector<Rule> rules);
    // For the units of a list. REQUIRES: gives_what_it_asks.
    // `more`: rules that are told of units already.
    GiveRules(const Snapshot& snapshot,
              const UnitList& list,
              std::span<const GiveRule> rules,
              std::span<const Rule> more = {});

    [[nodiscard]] bool empty() const { return rules_.empty(); }
    // Decides what the rules leave no choice about. False: they cannot all hold any more.
    [[nodiscard]] bool settle(std::vector<UnitState>& states) const;
    // Whether they all hold if these units go, and nobody else.
    [[nodiscard]] bool hold(const std::vector<bool>& gone) const;
    // Adds units that may go to those that do, where too little is given; the cheapest first by these weights.
    void give_enough(std::span<const UnitState> states, std::span<const Wide> weights, std::vector<bool>& gone) const;
    // Of a rule that does not hold for these: who is to be decided next, and whether it had better stay. Nullopt: they
    // all hold, or nobody can help.
    struct Question {
        std::uint32_t unit = 0;
        bool stay = false;
    };
    [[nodiscard]] std::optional<Question> undecided(std::span<const UnitState> states,
                                                    const std::vector<bool>& gone) const;
    // Rules that let go at most so much: prices for giving (cover_prices.cc). What each unit would pay, and what those
    // who are still open get back together: no set that keeps to the rules pays more than that.
    void add_prices(std::span<Wide> weights) const;
    [[nodiscard]] Wide refund(std::span<const UnitState> states) const;
    // No dearer than that the largest gift of a rule costs as much as its dearest giver, and all of them together stay
    // below `most`.
    void limit_prices(std::span<const Wide> weights, Wide most);
    // Dearer where these units give too much, cheaper where they give less; by `rate` thousandths of the limit.
    void adjust_prices(const std::vector<bool>& gone, std::int64_t rate);
    [[nodiscard]] bool priced() const;
    // How many numbers one look at all of them takes.
    [[nodiscard]] std::size_t size() const { return size_; }
    // What the unit gives to each rule, as a list of numbers that is the same for units that do the same.
    [[nodiscard]] std::span<const std::int64_t> gifts_of(std::uint32_t unit) const {
        return rules_.empty() ? std::span<const std::int64_t>() : std::span<const std::int64_t>(gifts_of_[unit]);
    }

private:
    struct Priced : Rule {
        Wide price = 0;  // of one part
        Wide most_price = 0;
        std::int64_t part = 1;  // about one thousandth of the largest gift
    };
    struct Sums {
        std::int64_t gone = 0;
        std::int64_t open = 0;
        bool applies = false;
    };
    [[nodiscard]] static Sums sums_of(const Rule& rule, std::span<const UnitState> states);
    [[nodiscard]] static Sums sums_of(const Rule& rule, const std::vector<bool>& gone);
    [[nodiscard]] static bool holds(const Rule& rule, const Sums& sums);
    // What goes along with a gang that goes whole.
    [[nodiscard]] std::int64_t given_with(const Rule& rule, const Gift& gift, std::span<const UnitState> states) const;
    [[nodiscard]] bool settle(const Rule& rule, std::vector<UnitState>& states, bool& changed) const;
    void stay(std::vector<UnitState>& states, std::uint32_t unit) const;
    void go(std::vector<UnitState>& states, std::uint32_t unit) const;

    std::vector<Priced> rules_;
    std::size_t size_ = 0;
    std::vector<std::int32_t> whole_of_;                // of each unit; -1: none
    std::vector<std::vector<std::uint32_t>> along_of_;  // units that go with this one
    std::vector<std::vector<std::int64_t>> gifts_of_;
};

// What each unit gives to each of these rules, as room on nodes.
[[nodiscard]] std::vector<GiveRules::Rule> rules_of_units(const Snapshot& snapshot,
                                                          const UnitList& list,
                                                          std::span<const GiveRule> rules);

}  // namespace reprieve
