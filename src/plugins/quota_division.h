// QuotaDivision: how the quotas of one level divide one resource of what their parent has.
//
// Everybody gets its minimum, or less if it asks for less and lends; what is left goes to those who ask for more, by
// weight, in exact integers: largest remainders first, ties by name, never above what is asked for. Minimums that
// exceed the total together are scaled down, except those that say they are not to be.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/wide.h"

namespace reprieve {

struct QuotaClaim {
    std::int64_t least = 0;   // the written minimum
    std::int64_t asked = 0;   // the request, limited by the maximum
    std::int64_t weight = 0;  // of what is left; none: never borrows
    bool lends = true;        // what it does not ask for of its minimum
    bool scales = true;
};

struct QuotaPart {
    std::int64_t least = 0;  // the minimum, scaled where that is needed
    std::int64_t runtime = 0;
};

class QuotaDivision {
public:
    // `claims` stand in the order of names; `parts` is parallel to them.
    void divide(std::int64_t total, std::span<const QuotaClaim> claims, std::span<QuotaPart> parts);

private:
    struct Borrower {
        std::uint32_t at = 0;
        std::int64_t share = 0;
        std::int64_t remainder = 0;
    };
    void share(Wide left, Wide weights, std::span<const QuotaClaim> claims);

    std::vector<Borrower> borrowers_;
};

}  // namespace reprieve
