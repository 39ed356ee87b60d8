#include "model/resources.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <limits>

namespace reprieve {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

Resources make(std::initializer_list<std::pair<Dim, std::int64_t>> amounts) {
    Resources made;
    for (const auto& [dim, value] : amounts)
        made.set(dim, value);
    return made;
}

TEST(Resources, AbsentIsNotZero) {
    const Resources some = make({{kPods, 3}, {kMemory, 0}});
    EXPECT_EQ(some.get(kPods), 3);
    EXPECT_EQ(some.get(kCpu), 0);
    EXPECT_FALSE(some.lists(kCpu));
    EXPECT_TRUE(some.lists(kMemory));
    EXPECT_NE(some, make({{kPods, 3}}));
}

TEST(Resources, IsSortedWhateverTheOrderOfArrival) {
    EXPECT_EQ(make({{kPods, 3}, {kCpu, 1}, {kMemory, 2}}), make({{kCpu, 1}, {kMemory, 2}, {kPods, 3}}));
    EXPECT_EQ(make({{kCpu, 1}, {kCpu, 5}}).size(), 1U);
}

TEST(Resources, AddsAndSubtractsByDimension) {
    Resources sum = make({{kCpu, 100}, {kPods, 1}});
    sum.add(make({{kMemory, 7}, {kPods, 2}, {kEphemeralStorage, 9}}));
    EXPECT_EQ(sum, make({{kCpu, 100}, {kMemory, 7}, {kPods, 3}, {kEphemeralStorage, 9}}));
    sum.subtract(make({{kMemory, 8}, {kPods, 3}}));
    EXPECT_EQ(sum, make({{kCpu, 100}, {kMemory, -1}, {kPods, 0}, {kEphemeralStorage, 9}}));
    sum.drop_zeros();
    EXPECT_FALSE(sum.lists(kPods));
    sum.add(kCpu, 11);
    sum.add(kPods, 4);
    EXPECT_EQ(sum.get(kCpu), 111);
    EXPECT_EQ(sum.get(kPods), 4);
    sum.erase(kCpu);
    sum.erase(kCpu);
    EXPECT_EQ(sum, make({{kMemory, -1}, {kPods, 4}, {kEphemeralStorage, 9}}));
}

TEST(Resources, SubtractingWhatIsNotListedGoesBelowZero) {
    Resources idle;
    idle.subtract(make({{kCpu, 5}}));
    EXPECT_EQ(idle.get(kCpu), -5);
}

TEST(Resources, TakesItselfAsArgument) {
    Resources some = make({{kCpu, 5}, {kPods, 2}});
    some.add(some);
    EXPECT_EQ(some, make({{kCpu, 10}, {kPods, 4}}));
    some.raise_to(some);
    EXPECT_EQ(some, make({{kCpu, 10}, {kPods, 4}}));
    some.subtract(some);
    EXPECT_EQ(some, make({{kCpu, 0}, {kPods, 0}}));
}

TEST(Resources, RaisesToTheLargerAmount) {
    Resources peak = make({{kCpu, 100}, {kMemory, 1}});
    peak.raise_to(make({{kCpu, 50}, {kMemory, 4}, {kPods, 1}}));
    EXPECT_EQ(peak, make({{kCpu, 100}, {kMemory, 4}, {kPods, 1}}));
}

TEST(Resources, SumsAreHeldAtTheEdge) {
    EXPECT_EQ(saturating_add(kMax, 1), kMax);
    EXPECT_EQ(saturating_add(kMin, -1), kMin);
    EXPECT_EQ(saturating_add(kMax, kMin), -1);
    EXPECT_EQ(saturating_add(2, 3), 5);
    Resources big = make({{kCpu, kMax - 1}, {kMemory, kMin + 1}});
    big.add(make({{kCpu, 10}, {kMemory, -10}}));
    EXPECT_EQ(big, make({{kCpu, kMax}, {kMemory, kMin}}));
    big.subtract(make({{kCpu, -1}, {kMemory, 1}}));
    EXPECT_EQ(big, make({{kCpu, kMax}, {kMemory, kMin}}));
    big.add(kCpu, kMax);
    EXPECT_EQ(big.get(kCpu), kMax);
}

}  // namespace
}  // namespace reprieve
