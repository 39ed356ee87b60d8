// SpreadBook: how the pods of each hard spread constraint lie over its domains, counted once and kept while they stand.
//
// Which nodes count for a class of pods is a matter of facts and is worked out once; what they hold follows the changes
// of the view. It lives as long as one cycle: facts do not change under it.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "plugins/filter.h"
#include "state/promised_counts.h"

namespace reprieve {

class SpreadBook {
public:
    // One hard constraint of a class.
    struct Tally {
        const ClassSpread* constraint = nullptr;
        std::vector<std::int32_t> domain_of;           // by node: where it counts, or kNoDomain
        std::vector<std::int32_t> held;                // by domain; kUncounted where no node counts
        std::map<std::int32_t, std::int32_t> domains;  // how many domains hold so much: the first is the emptiest
        std::int32_t least = 0;
        std::uint64_t seen = 0;           // up to here it follows the view's log
        std::uint64_t seen_promised = 0;  // and that of promised pods, where they are left out
        bool counted = false;
    };
    static constexpr std::int32_t kUncounted = INT32_MIN;

    // The tallies of the candidate's class, up to date with what is there; `without`: nominated pods are left out.
    [[nodiscard]] const std::vector<Tally>& tallies(const Candidate& candidate,
                                                    const Occupancy& later,
                                                    const PromisedCounts* without = nullptr);

private:
    using ByClass = std::unordered_map<ClassId, std::vector<Tally>>;
    ByClass by_class_;
    ByClass without_nominated_;
};

// Whether one more pod like the candidate on the node keeps within this constraint.
[[nodiscard]] bool within_skew(const SpreadBook::Tally& tally, const Candidate& candidate, NodeId node);

}  // namespace reprieve
