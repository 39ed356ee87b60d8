// SubsetSearch: the cheapest set of units on one node, by branch and bound within a budget of steps.
//
// Units are decided one after another, evict first from least important; a branch is cut when its cost so far already
// reaches the best known, or when even evicting all that is left would not make room. Every term of the cost but the
// start of the most important victim only grows as victims are added; that term is left out of the cut.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/node_victims.h"

namespace reprieve {

class SubsetSearch {
public:
    // `open`: the units are those of open splits.
    SubsetSearch(NodeVictims& owner, NodeId node, Victims& best, bool open = false);

    // Improves `best`; sets best.exact if the search ended before its budget. Whoever goes then is needed.
    void run(std::int64_t most_steps = kArithmeticSteps);
    static constexpr std::int64_t kArithmeticSteps = 20'000;

private:
    void descend(std::size_t depth);
    [[nodiscard]] bool could_still_fit(std::size_t depth);
    [[nodiscard]] bool fits_now();
    [[nodiscard]] bool too_dear() const;
    [[nodiscard]] bool links_hold() const;
    [[nodiscard]] bool spares_hold() const;
    // Of a set that was met before the budget ended: who need not go after all.
    void give_back();
    [[nodiscard]] bool suffice(std::span<const std::uint32_t> units);
    void keep(std::uint32_t unit);
    void unkeep(std::uint32_t unit);

    NodeVictims& owner_;
    NodeId node_;
    Victims& best_;
    std::vector<std::uint32_t> order_;    // units from most to least important
    std::vector<std::uint32_t> evicted_;  // chosen so far
    std::vector<bool> is_evicted_;
    std::vector<std::vector<std::int64_t>> freed_;  // per unit, per short dimension
    std::vector<std::vector<std::int64_t>> rest_;   // what units from this depth on could free
    std::vector<std::int64_t> missing_;             // per short dimension, with what is evicted so far
    std::vector<std::int64_t> needed_;              // per short dimension
    std::int64_t steps_ = 0;
    bool arithmetic_ = false;
    bool open_ = false;  // the list has open splits
};

}  // namespace reprieve
