#include "search/slot_cover.h"

#include <gtest/gtest.h>

namespace reprieve {
namespace {

// Two nodes of 4 GPUs: `a` and half of gang `g` on the first, the other half and `b` on the second; 2 GPUs each.
class TwoNodes : public testing::Test {
protected:
    static constexpr std::uint32_t kA = 0;
    static constexpr std::uint32_t kB = 1;
    static constexpr std::uint32_t kG = 2;

    static SlotCover cover(std::int64_t members) {
        return SlotCover({4}, members, {{.gifts = {{kA, {2}}, {kG, {2}}}}, {.gifts = {{kB, {2}}, {kG, {2}}}}}, 3);
    }

    std::vector<UnitState> states = std::vector<UnitState>(3, UnitState::kOpen);
    std::vector<Wide> weights{1, 1, 2};
};

using List = std::vector<std::uint32_t>;

TEST_F(TwoNodes, AreClearedForTwo) {
    SlotCover both = cover(2);
    const auto choice = both.cheapest(states, both.even_shares(weights));
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->cost, 4);
    EXPECT_EQ(choice->chosen, (List{kA, kB, kG}));
    EXPECT_EQ(choice->partial, List{});
}

TEST_F(TwoNodes, PayForHalfAGangWhereOneIsEnough) {
    SlotCover one = cover(1);
    const auto choice = one.cheapest(states, one.even_shares(weights));
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->cost, 2);
    EXPECT_EQ(choice->partial, List{kG});
}

TEST_F(TwoNodes, NeedOneMoreOnceTheGangIsGone) {
    states[kG] = UnitState::kGone;
    SlotCover one = cover(1);
    const auto choice = one.cheapest(states, one.even_shares(weights));
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->cost, 1);
    EXPECT_EQ(choice->chosen.size(), 1U);
}

TEST_F(TwoNodes, AreCountedWhileUnitsComeAndGo) {
    const SlotCover two = cover(2);
    SlotCover::Count count(two);
    for (std::uint32_t unit : {kA, kG})
        count.take(unit);
    EXPECT_FALSE(count.enough());  // the first node alone is clear
    count.take(kB);
    EXPECT_TRUE(count.enough());
    count.give(kG);
    EXPECT_FALSE(count.enough());
}

TEST_F(TwoNodes, CannotBeClearedWhileTheGangStays) {
    states[kG] = UnitState::kStays;
    SlotCover one = cover(1);
    EXPECT_FALSE(one.holds(states));
    EXPECT_FALSE(one.cheapest(states, one.even_shares(weights)));
}

TEST_F(TwoNodes, ShareTheGangSoThatTheBoundIsTheOptimum) {
    weights[kB] = 3;  // the first node is the cheap one: the gang is paid for there
    SlotCover one = cover(1);
    SlotCover::Shares shares = one.even_shares(weights);
    ASSERT_EQ(one.cheapest(states, shares)->cost, 2);
    weights[kG] = 2'000;
    weights[kA] = 1'000;
    weights[kB] = 3'000;
    shares = one.even_shares(weights);
    one.tune(states, shares, 20);
    const Wide bound = one.cheapest(states, shares)->cost;
    EXPECT_GT(bound, 2'900);
    EXPECT_LE(bound, 3'000);
}

TEST(SlotCover, TakesTheSmallerOfWhatIsEnough) {
    // 3 of 8 GPUs are free; a member of 4 needs one more: the single GPU is enough.
    SlotCover cover({4}, 1, {{.free = {3}, .gifts = {{0, {1}}, {1, {2}}, {2, {2}}}}}, 3);
    const std::vector<Wide> weights{1, 2, 2};
    const auto choice = cover.cheapest(std::vector<UnitState>(3, UnitState::kOpen), cover.even_shares(weights));
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->chosen, List{0});
}

TEST(SlotCover, EveryDimensionMustBeThere) {
    SlotCover cover({4, 8}, 1, {{.free = {0, 8}, .gifts = {{0, {4, 0}}, {1, {0, 8}}}}}, 2);
    const std::vector<Wide> weights{5, 1};
    const auto choice = cover.cheapest(std::vector<UnitState>(2, UnitState::kOpen), cover.even_shares(weights));
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->chosen, List{0});
}

}  // namespace
}  // namespace reprieve
