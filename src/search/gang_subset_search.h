// GangSubsetSearch: the cheapest set of units of one domain, by branch and bound within a budget of work.
#pragma once

#include <cstdint>
#include <vector>

#include "search/gang_victims.h"

namespace reprieve {

class GangSubsetSearch {
public:
    GangSubsetSearch(GangVictims& owner, std::optional<GangChoice>& best) : owner_(owner), best_(best) {}

    // Improves `best`; says that it is exact if the search ended before its budget.
    void run(std::int64_t budget);
    [[nodiscard]] bool finished() const { return finished_; }
    // Of the budget.
    [[nodiscard]] std::int64_t spent() const { return spent_; }

private:
    void descend(std::size_t depth, bool changed);
    [[nodiscard]] bool fits();
    [[nodiscard]] bool too_dear() const;
    [[nodiscard]] bool links_hold() const;

    GangVictims& owner_;
    std::optional<GangChoice>& best_;
    std::vector<std::uint32_t> order_;
    std::vector<std::uint32_t> evicted_;
    std::int64_t work_ = 0;   // left
    std::int64_t trial_ = 0;  // what it takes to see whether the members fit
    std::int64_t spent_ = 0;
    bool finished_ = false;
};

}  // namespace reprieve
