#include "plugins/quota_division.h"

#include <gtest/gtest.h>

namespace reprieve {
namespace {

std::vector<QuotaPart> divide(std::int64_t total, const std::vector<QuotaClaim>& claims) {
    std::vector<QuotaPart> parts(claims.size());
    QuotaDivision().divide(total, claims, parts);
    return parts;
}

std::vector<std::int64_t> runtimes(std::int64_t total, const std::vector<QuotaClaim>& claims) {
    std::vector<std::int64_t> out;
    for (const QuotaPart& part : divide(total, claims))
        out.push_back(part.runtime);
    return out;
}

std::vector<std::int64_t> minimums(std::int64_t total, const std::vector<QuotaClaim>& claims) {
    std::vector<std::int64_t> out;
    for (const QuotaPart& part : divide(total, claims))
        out.push_back(part.least);
    return out;
}

using Numbers = std::vector<std::int64_t>;

TEST(QuotaDivision, WhoAsksForLessLendsTheRest) {
    EXPECT_EQ(runtimes(100, {{.least = 50, .asked = 10, .weight = 1}, {.least = 50, .asked = 90, .weight = 1}}),
              (Numbers{10, 90}));
}

TEST(QuotaDivision, WhoDoesNotLendKeepsItsMinimum) {
    EXPECT_EQ(
        runtimes(100,
                 {{.least = 50, .asked = 10, .weight = 1, .lends = false}, {.least = 50, .asked = 90, .weight = 1}}),
        (Numbers{50, 50}));
}

TEST(QuotaDivision, TheLargestRemaindersGetTheLastUnitsThenTheFirstNames) {
    EXPECT_EQ(runtimes(10, {{.asked = 9, .weight = 1}, {.asked = 9, .weight = 1}, {.asked = 9, .weight = 1}}),
              (Numbers{4, 3, 3}));
    // 7/6, 14/6, 21/6: quotients 1, 2, 3; the one unit left goes to the remainder 3 of the last.
    EXPECT_EQ(runtimes(7, {{.asked = 9, .weight = 1}, {.asked = 9, .weight = 2}, {.asked = 9, .weight = 3}}),
              (Numbers{1, 2, 4}));
}

TEST(QuotaDivision, WhatOneDoesNotNeedGoesToTheOthersInTheNextRound) {
    EXPECT_EQ(runtimes(30, {{.asked = 4, .weight = 1}, {.asked = 40, .weight = 1}, {.asked = 40, .weight = 1}}),
              (Numbers{4, 13, 13}));
}

TEST(QuotaDivision, WithoutAWeightNobodyBorrows) {
    EXPECT_EQ(runtimes(30, {{.least = 3, .asked = 40, .weight = 0}, {.least = 3, .asked = 10, .weight = 5}}),
              (Numbers{3, 10}));
}

TEST(QuotaDivision, MinimumsAboveTheTotalAreScaledUnlessTheyAreNotToBe) {
    const std::vector<QuotaClaim> claims{{.least = 8, .asked = 20, .weight = 1},
                                         {.least = 7, .asked = 20, .weight = 1},
                                         {.least = 4, .asked = 20, .weight = 1, .scales = false}};
    EXPECT_EQ(minimums(10, claims), (Numbers{3, 2, 4}));  // floor(6 * 8 / 15), floor(6 * 7 / 15)
    EXPECT_EQ(minimums(3, claims), (Numbers{0, 0, 4}));
    EXPECT_EQ(minimums(19, claims), (Numbers{8, 7, 4}));
}

TEST(QuotaDivision, NothingIsHandedOutThatIsNotThere) {
    EXPECT_EQ(runtimes(-5, {{.least = 0, .asked = 20, .weight = 1}, {.least = 4, .asked = 2, .weight = 1}}),
              (Numbers{0, 0}));
}

TEST(QuotaDivision, HugeWeightsDoNotOverflow) {
    constexpr std::int64_t kHuge = INT64_MAX / 2;
    EXPECT_EQ(
        runtimes(
            kHuge,
            {{.asked = kHuge, .weight = kHuge}, {.asked = kHuge, .weight = kHuge}, {.asked = kHuge, .weight = kHuge}}),
        (Numbers{kHuge / 3, kHuge / 3, kHuge / 3}));
    EXPECT_EQ(kHuge % 3, 0);
}

}  // namespace
}  // namespace reprieve
