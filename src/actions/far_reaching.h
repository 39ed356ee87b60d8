// FarReaching: the pods that a plan has placed and whose rules look at pods on other nodes (required affinity, hard or
// soft spread), by the terms they depend on.
//
// A change to some pods can matter only to those placed pods that one of their terms speaks of. So what has to be
// looked at again follows the pods that changed, not all that the plan has placed before.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "actions/desk.h"

namespace reprieve {

class FarReaching {
public:
    explicit FarReaching(Desk& desk) : desk_(desk) {}

    // Takes in what the journal has placed since it was last read. REQUIRES: nothing that it has taken in was rolled
    // back and done again meanwhile.
    void note();
    // Whether the pods it knows still pass their filters where they are, now that the pods evicted since then are gone;
    // with the pods placed since then, and without them: a victim's place as company is not taken by a pod that may
    // never come.
    [[nodiscard]] bool hold_since(Transaction::Checkpoint start);
    // All of them.
    [[nodiscard]] std::vector<PodId> pods() const;

private:
    [[nodiscard]] bool is_placed(PodId pod) const;
    // A term of a pod that was placed earlier matches this one.
    [[nodiscard]] bool speaks_of(PodId pod) const;
    [[nodiscard]] bool hold_without(std::span<const std::pair<PodId, NodeId>> gone);
    [[nodiscard]] bool hold_without(PodId gone, NodeId node);
    // Where a pod stands as its own spread constraints see it: pods of one class in one such place get one answer.
    using Place = std::pair<ClassId, std::vector<std::int32_t>>;
    [[nodiscard]] Place place_of(PodId pod) const;

    Desk& desk_;
    std::map<TermId, std::map<std::int32_t, std::set<PodId>>> by_affinity_;  // and by domain of the term's key
    std::map<TermId, std::set<PodId>> by_spread_;
    std::set<Place> asked_;  // within one question
    std::size_t noted_ = 0;  // ops of the journal that were read
};

}  // namespace reprieve
