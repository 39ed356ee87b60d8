#include "plugins/proportion.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace reprieve {
namespace {

using Parts = std::vector<std::int64_t>;

constexpr std::int64_t kPlenty = INT64_MAX;

TEST(Proportion, RequestsThatDoNotLimitLeaveTheWeights) {
    EXPECT_EQ(divide_by_weight(9000, std::vector<Claimant>{{2, kPlenty, "a"}, {4, kPlenty, "b"}}), (Parts{3000, 6000}));
    EXPECT_EQ(divide_by_weight(9000, std::vector<Claimant>{{2, kPlenty, "a"}, {4, kPlenty, "b"}, {3, kPlenty, "c"}}),
              (Parts{2000, 4000, 3000}));
}

TEST(Proportion, WhatTheModestLeaveGoesToTheOthers) {
    EXPECT_EQ(divide_by_weight(10, std::vector<Claimant>{{1, 10, "a"}, {1, 2, "b"}}), (Parts{8, 2}));
    EXPECT_EQ(divide_by_weight(10, std::vector<Claimant>{{1, 3, "a"}, {1, 2, "b"}}), (Parts{3, 2}));
}

TEST(Proportion, AnEqualRequestIsMetAndOneMoreIsNot) {
    EXPECT_EQ(divide_by_weight(10, std::vector<Claimant>{{1, 5, "a"}, {1, 9, "b"}}), (Parts{5, 5}));
    EXPECT_EQ(divide_by_weight(10, std::vector<Claimant>{{1, 6, "a"}, {1, 9, "b"}}), (Parts{5, 5}));
}

TEST(Proportion, RoundingFavoursWhoComesLater) {
    EXPECT_EQ(divide_by_weight(7, std::vector<Claimant>{{1, 9, "a"}, {1, 9, "b"}, {2, 9, "c"}}), (Parts{1, 2, 4}));
    EXPECT_EQ(divide_by_weight(2, std::vector<Claimant>{{1, 1, "b"}, {1, 1, "a"}, {1, 1, "c"}}), (Parts{1, 0, 1}));
}

TEST(Proportion, TheRemainderGoesToTheHeaviestThenByName) {
    // The heavy one is content with 6; 3 are left over.
    EXPECT_EQ(divide_by_weight(12, std::vector<Claimant>{{1, 5, "x"}, {2, 5, "y"}, {9, 6, "z"}}), (Parts{1, 5, 6}));
    EXPECT_EQ(divide_by_weight(12, std::vector<Claimant>{{1, 9, "x"}, {1, 9, "y"}, {10, 10, "z"}}), (Parts{1, 1, 10}));
    EXPECT_EQ(divide_by_weight(12, std::vector<Claimant>{{1, 4, "x"}, {1, 4, "y"}, {10, 5, "z"}}), (Parts{4, 3, 5}));
}

TEST(Proportion, NothingToDivideAndNobodyToGetIt) {
    EXPECT_EQ(divide_by_weight(0, std::vector<Claimant>{{1, 5, "a"}}), (Parts{0}));
    EXPECT_EQ(divide_by_weight(5, std::vector<Claimant>{{0, 5, "a"}}), (Parts{5}));
    EXPECT_TRUE(divide_by_weight(5, {}).empty());
}

TEST(Proportion, LargeAmountsDoNotOverflow) {
    EXPECT_EQ(divide_by_weight(INT64_MAX, std::vector<Claimant>{{1'000'000, kPlenty, "a"}, {1'000'000, kPlenty, "b"}}),
              (Parts{INT64_MAX / 2, INT64_MAX / 2 + 1}));
}

}  // namespace
}  // namespace reprieve
