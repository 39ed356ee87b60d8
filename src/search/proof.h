// Proof: why a claim about all sets of victims holds. `optimal` and `infeasible` can be said only by who has one.
//
// A Proof cannot be made from a flag: each way of making one names its argument and checks the evidence it rests on.
//
//   exhausted     every set that the rules allow was looked at, or cut off by a bound that no such set can beat. The
//                 evidence is the budget: a search that ran out of it has not looked at everything.
//   all_removed   everything that may be evicted was, and the demand still did not fit. That is evidence only if the
//                 question is monotone (plugins/monotone.h): evicting more can then only help.
//   nobody        no unit may be taken at all, and what is free does not do; or even the empty domain is too small.
//   every_part    the places where the demand may go (nodes, domains) fall into parts, and each has a proof of its own.
//   bound_met     no set costs less than the bound, and the set at hand costs no more.
#pragma once

#include <cstddef>

#include "base/check.h"
#include "search/work_budget.h"

namespace reprieve {

class Proof {
public:
    [[nodiscard]] static Proof exhausted(const WorkBudget& budget) {
        REPRIEVE_CHECK(!budget.exhausted(), "a search that ran out of work proves nothing");
        return {};
    }
    [[nodiscard]] static Proof all_removed(bool question_is_monotone) {
        REPRIEVE_CHECK(question_is_monotone, "removing everything proves nothing where evictions can do harm");
        return {};
    }
    [[nodiscard]] static Proof nobody() { return {}; }
    [[nodiscard]] static Proof every_part(std::size_t parts, std::size_t proven) {
        REPRIEVE_CHECK(parts == proven, "a part without a proof leaves the whole without one");
        return {};
    }
    template <class Cost>
    [[nodiscard]] static Proof bound_met(const Cost& cost, const Cost& bound) {
        REPRIEVE_CHECK(!(bound < cost), "a bound below the cost proves nothing");
        return {};
    }

private:
    Proof() = default;
};

}  // namespace reprieve
