#include "search/give_rules.h"

#include <gtest/gtest.h>

namespace reprieve {
namespace {

using States = std::vector<UnitState>;
constexpr UnitState kOpen = UnitState::kOpen;
constexpr UnitState kGone = UnitState::kGone;
constexpr UnitState kStays = UnitState::kStays;
constexpr std::int32_t kAlone = -1;

GiveRules::Rule at_most(std::int64_t amount, std::vector<GiveRules::Gift> gifts) {
    return {.amount = amount, .gifts = std::move(gifts), .givers = {}};
}
GiveRules::Rule at_least(std::int64_t amount, std::vector<GiveRules::Gift> gifts) {
    return {.at_least = true, .amount = amount, .gifts = std::move(gifts), .givers = {}};
}
GiveRules::Rule if_given(std::int64_t amount, std::vector<GiveRules::Gift> gifts, std::vector<std::uint32_t> givers) {
    return {
        .at_least = true, .amount = amount, .gifts = std::move(gifts), .always = false, .givers = std::move(givers)};
}

TEST(GiveRules, WhoWouldGiveTooMuchStays) {
    const GiveRules rules({kAlone, kAlone, kAlone}, {at_most(5, {{0, 2}, {1, 4}, {2, 3}})});
    States states{kGone, kOpen, kOpen};
    ASSERT_TRUE(rules.settle(states));
    EXPECT_EQ(states, (States{kGone, kStays, kOpen}));
    EXPECT_TRUE(rules.hold({true, false, true}));
    EXPECT_FALSE(rules.hold({true, true, false}));
}

TEST(GiveRules, TooMuchIsGoneAlready) {
    const GiveRules rules({kAlone, kAlone}, {at_most(5, {{0, 3}, {1, 3}})});
    States states{kGone, kGone};
    EXPECT_FALSE(rules.settle(states));
}

TEST(GiveRules, AGangCountsWithWhatGoesAlong) {
    // The first unit is a gang, the others its surplus.
    const GiveRules rules({kAlone, 0, 0}, {at_most(5, {{0, 2}, {1, 2}, {2, 2}})});
    States states{kOpen, kOpen, kOpen};
    ASSERT_TRUE(rules.settle(states));
    EXPECT_EQ(states, (States{kStays, kOpen, kOpen}));
}

TEST(GiveRules, WhoeverIsNeededGoes) {
    const GiveRules rules({kAlone, kAlone, kAlone}, {at_least(6, {{0, 4}, {1, 3}, {2, 1}})});
    States states{kOpen, kOpen, kOpen};
    ASSERT_TRUE(rules.settle(states));
    EXPECT_EQ(states, (States{kGone, kGone, kOpen}));
    States too_few{kStays, kOpen, kOpen};
    EXPECT_FALSE(rules.settle(too_few));
}

TEST(GiveRules, NobodyGivesBackInVain) {
    // The last unit may go only if the first two give enough.
    const GiveRules rules({kAlone, kAlone, kAlone}, {if_given(5, {{0, 3}, {1, 3}}, {2})});
    States enough{kOpen, kOpen, kOpen};
    ASSERT_TRUE(rules.settle(enough));
    EXPECT_EQ(enough, (States{kOpen, kOpen, kOpen}));
    States too_little{kOpen, kStays, kOpen};
    ASSERT_TRUE(rules.settle(too_little));
    EXPECT_EQ(too_little, (States{kOpen, kStays, kStays}));
    States given{kOpen, kOpen, kGone};
    ASSERT_TRUE(rules.settle(given));
    EXPECT_EQ(given, (States{kGone, kGone, kGone}));
    EXPECT_TRUE(rules.hold({false, false, false}));
    EXPECT_FALSE(rules.hold({true, false, true}));
}

TEST(GiveRules, OneRuleLeadsToTheNext) {
    // If the first may not go, the second must; then the third may not.
    const GiveRules rules({kAlone, kAlone, kAlone},
                          {at_most(3, {{1, 2}, {2, 2}}), at_least(2, {{0, 2}, {1, 2}}), at_most(1, {{0, 2}})});
    States states{kOpen, kOpen, kOpen};
    ASSERT_TRUE(rules.settle(states));
    EXPECT_EQ(states, (States{kStays, kGone, kStays}));
}

TEST(GiveRules, TheCheapestMakeUpForWhatIsMissing) {
    const GiveRules rules({kAlone, kAlone, kAlone, 2}, {at_least(4, {{0, 4}, {1, 2}, {2, 2}, {3, 1}})});
    std::vector<bool> gone(4);
    rules.give_enough(States(4, kOpen), std::vector<Wide>{12, 2, 4, 0}, gone);
    EXPECT_EQ(gone, (std::vector<bool>{false, true, true, true}));
    EXPECT_TRUE(rules.hold(gone));
}

TEST(GiveRules, AQuestionIsAskedOfWhoGivesMost) {
    const GiveRules rules({kAlone, kAlone, kAlone}, {at_most(3, {{0, 1}, {1, 2}, {2, 2}})});
    const auto question = rules.undecided(States{kOpen, kOpen, kGone}, {true, true, true});
    ASSERT_TRUE(question);
    EXPECT_EQ(question->unit, 1U);
    EXPECT_TRUE(question->stay);
    EXPECT_FALSE(rules.undecided(States{kOpen, kOpen, kGone}, {true, false, true}));
}

TEST(GiveRules, PricesNeverTakeMoreThanTheyGiveBack) {
    // Whoever keeps to the rule pays no more than is given back, at whatever price, whoever is decided already.
    GiveRules rules({kAlone, kAlone, kAlone}, {at_most(3'500, {{0, 1'001}, {1, 2'499}, {2, 3'000}})});
    rules.limit_prices(std::vector<Wide>(3, 1'000'000), Wide{1} << 100U);
    for (std::int64_t rate : {1'000, 700, 300})
        rules.adjust_prices({true, true, true}, rate);
    std::vector<Wide> weights(3);
    rules.add_prices(weights);
    EXPECT_GT(weights[2], weights[0]);
    EXPECT_LE(weights[0] + weights[1], rules.refund(States(3, kOpen)));
    EXPECT_LE(weights[1], rules.refund(States{kGone, kOpen, kOpen}));
}

TEST(GiveRules, PricesOfAllTogetherStayBelowTheirLimit) {
    constexpr Wide kDear = Wide{1} << 118U;
    constexpr Wide kMost = Wide{1} << 120U;
    std::vector<GiveRules::Rule> told;
    std::vector<GiveRules::Gift> gifts;
    for (std::uint32_t u = 0; u < 40; ++u)
        gifts.push_back({u, 1'000'000 + u});
    for (int i = 0; i < 20; ++i)
        told.push_back(at_most(5'000'000, gifts));
    GiveRules rules(std::vector<std::int32_t>(40, kAlone), told);
    rules.limit_prices(std::vector<Wide>(40, kDear), kMost);
    for (int i = 0; i < 20; ++i)
        rules.adjust_prices(std::vector<bool>(40, true), 1'000);
    std::vector<Wide> weights(40);
    rules.add_prices(weights);
    Wide sum = 0;
    for (Wide weight : weights)
        sum += weight;
    EXPECT_GT(sum, 0);
    EXPECT_LE(sum, kMost);
    EXPECT_LE(rules.refund(States(40, kOpen)), kMost);
}

TEST(GiveRules, RulesThatCannotBindAreLeftOut) {
    const GiveRules rules({kAlone}, {at_most(5, {{0, 5}}), if_given(9, {{0, 1}}, {})});
    EXPECT_TRUE(rules.empty());
}

}  // namespace
}  // namespace reprieve
