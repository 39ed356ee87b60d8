#include "search/share_flow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace reprieve {
namespace {

using Slots = std::vector<ShareFlow::Slot>;

// Three places of one slot; gang 0 lies on the first two, units 1 to 3 on one each.
class ThreePlaces : public testing::Test {
protected:
    Slots slots{{.first = 0, .count = 2}, {.first = 2, .count = 2}, {.first = 4, .count = 1}};
    std::vector<std::uint32_t> needs{0, 1, 0, 2, 3};
    std::vector<Wide> weights{6, 1, 1, 5};

    // What the cheapest slots pay.
    static std::int64_t least(const ShareFlow& flow, const Slots& slots, std::size_t wanted) {
        const std::vector<Wide> paid = flow.paid();
        std::vector<std::int64_t> sums;
        for (const ShareFlow::Slot& slot : slots) {
            if (slot.is_bonus) continue;
            const auto first = paid.begin() + slot.first;
            sums.push_back(static_cast<std::int64_t>(std::accumulate(first, first + slot.count, Wide{0})));
        }
        std::ranges::sort(sums);
        return std::accumulate(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(wanted), std::int64_t{0});
    }
};

TEST_F(ThreePlaces, OneSlotIsHalfAGangAtMost) {
    ShareFlow flow(slots, needs, weights);
    ASSERT_TRUE(flow.solve(1, 1000));
    // Half of the first two places together costs 4, the third alone 5.
    EXPECT_EQ(least(flow, slots, 1), 4);
}

TEST_F(ThreePlaces, TwoSlotsCostTheGangAndItsNeighbours) {
    ShareFlow flow(slots, needs, weights);
    ASSERT_TRUE(flow.solve(2, 1000));
    EXPECT_EQ(least(flow, slots, 2), 8);
    EXPECT_EQ(flow.surely(), (std::vector<bool>{true, true, false}));
}

TEST_F(ThreePlaces, AllSlotsCostEverything) {
    ShareFlow flow(slots, needs, weights);
    ASSERT_TRUE(flow.solve(3, 1000));
    EXPECT_EQ(least(flow, slots, 3), 13);
}

TEST_F(ThreePlaces, NobodyPaysMoreThanAUnitWeighs) {
    ShareFlow flow(slots, needs, weights);
    ASSERT_TRUE(flow.solve(2, 1000));
    std::vector<Wide> drained(weights.size());
    for (std::size_t n = 0; n < needs.size(); ++n)
        drained[needs[n]] += flow.paid()[n];
    for (std::size_t u = 0; u < weights.size(); ++u)
        EXPECT_LE(drained[u], weights[u]);
}

TEST_F(ThreePlaces, ABonusPaysItsPartOfWhoeverGoes) {
    // 7 for units 1 and 2 together, which weigh 2: it is taken whatever else goes, and the slots that need them do not
    // pay for them.
    slots.push_back({.first = 5, .count = 2, .is_bonus = true, .bonus = 7});
    needs.insert(needs.end(), {1, 2});
    ShareFlow flow(slots, needs, weights);
    ASSERT_TRUE(flow.solve(2, 1000));
    EXPECT_EQ(least(flow, slots, 2), 6);
    EXPECT_TRUE(flow.surely()[3]);
    EXPECT_EQ(flow.paid()[5] + flow.paid()[6], 2);
}

TEST_F(ThreePlaces, ASecondSlotOfAPlaceNeedsTheFirst) {
    // The third place has a second slot, which needs unit 4 beyond what the first one does.
    slots.push_back({.before = 2, .first = 5, .count = 1});
    needs.push_back(4);
    weights.push_back(1);
    ShareFlow flow(slots, needs, weights);
    ASSERT_TRUE(flow.solve(2, 1000));
    // Both together pay for both units, whichever of them does.
    EXPECT_EQ(flow.paid()[4] + flow.paid()[5], 6);
    EXPECT_EQ(flow.surely(), (std::vector<bool>{false, false, true, true}));
}

TEST_F(ThreePlaces, GivesUpWhereItMayNotLook) {
    ShareFlow flow(slots, needs, weights);
    EXPECT_FALSE(flow.solve(2, 0));
}

}  // namespace
}  // namespace reprieve
