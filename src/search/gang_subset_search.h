// GangSubsetSearch: the cheapest set of units of one domain, by branch and bound within a budget of steps.
#pragma once

#include <cstdint>
#include <vector>

#include "search/gang_victims.h"

namespace reprieve {

class GangSubsetSearch {
public:
    GangSubsetSearch(GangVictims& owner, GangChoice& best) : owner_(owner), best_(best) {}

    // Improves `best`; sets best.exact if the search ended before its budget.
    void run();

private:
    void descend(std::size_t depth);
    [[nodiscard]] bool too_dear() const;
    [[nodiscard]] bool links_hold() const;

    GangVictims& owner_;
    GangChoice& best_;
    std::vector<std::uint32_t> order_;
    std::vector<std::uint32_t> evicted_;
    std::int64_t steps_ = 0;
};

}  // namespace reprieve
