// SpreadBook: how the pods of each hard spread constraint lie over its domains, counted once and kept while they stand.
//
// Which nodes count for a class of pods is a matter of facts and is worked out once; what they hold follows the changes
// of the view. It lives as long as one cycle: facts do not change under it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "plugins/filter.h"

namespace reprieve {

class SpreadBook {
public:
    // One hard constraint of a class.
    struct Tally {
        const ClassSpread* constraint = nullptr;
        std::vector<std::int32_t> domain_of;  // by node: where it counts, or kNoDomain
        std::vector<std::int32_t> held;       // by domain; kUncounted where no node counts
        std::int32_t least = 0;
        std::int32_t domains = 0;
        std::uint64_t seen = 0;  // up to here it follows the view's log
        bool counted = false;
    };
    static constexpr std::int32_t kUncounted = -1;

    // The tallies of the candidate's class, up to date with what is there.
    [[nodiscard]] const std::vector<Tally>& tallies(const Candidate& candidate, const Occupancy& later);

private:
    std::unordered_map<ClassId, std::vector<Tally>> by_class_;
};

}  // namespace reprieve
