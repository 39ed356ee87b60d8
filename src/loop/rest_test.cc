#include "loop/rest.h"

#include <gtest/gtest.h>

namespace reprieve {
namespace {

Rest::Moment at(std::int64_t ms) { return Rest::Moment(std::chrono::hours(1)) + std::chrono::milliseconds(ms); }

TEST(RestTest, ACycleIsFollowedByARestThatIsSoManyTimesAsLong) {
    Rest rest({.times = 19, .most = {200'000}, .saves = {100'000}});
    EXPECT_EQ(rest.left(at(0), false).us, 0);
    rest.planned(at(0), at(2));
    EXPECT_EQ(rest.left(at(2), false).us, 38'000);
    EXPECT_EQ(rest.left(at(40), false).us, 0);
    rest.planned(at(100), at(150));
    EXPECT_EQ(rest.left(at(150), false).us, 200'000) << "but not for ever";
}

TEST(RestTest, WhoIsUrgentWaitsOnlyWhereNothingIsSaved) {
    Rest rest({.times = 19, .most = {200'000}, .saves = {10'000}});
    rest.planned(at(0), at(4));
    EXPECT_EQ(rest.left(at(4), true).us, 0);
    rest.planned(at(4), at(12));
    EXPECT_EQ(rest.left(at(12), true).us, 152'000) << "12 ms of planning and 10 ms saved";
    EXPECT_EQ(rest.left(at(52), true).us, 112'000) << "40 ms without planning pay the debt of 2 ms, and no more";
    EXPECT_EQ(rest.left(at(53), true).us, 0);
    rest.planned(at(1'000), at(1'009));
    EXPECT_EQ(rest.left(at(1'009), true).us, 0) << "all of it was there again";
}

TEST(RestTest, AStormOfUrgentDemandsIsServedCycleByCycle) {
    Rest rest({.times = 19, .most = {200'000}, .saves = {100'000}});
    std::int64_t now = 0;
    std::int64_t planning = 0;
    for (; now < 10'000; ++now) {
        if (rest.left(at(now), true).us > 0) continue;
        rest.planned(at(now), at(now + 20));
        planning += 20;
        now += 19;
    }
    EXPECT_LE(planning, 10'000 / 10 + 100) << "a cycle of 20 ms every 220 ms, and what was saved before";
}

TEST(RestTest, NoDebtLastsForEver) {
    Rest rest({.times = 19, .most = {200'000}, .saves = {10'000}});
    rest.planned(at(0), at(5'000));
    EXPECT_GT(rest.left(at(5'100), true).us, 0);
    rest.planned(at(5'200), at(5'201));
    EXPECT_EQ(rest.left(at(5'402), true).us, 0);
}

TEST(RestTest, WithoutARestNothingIsPutOff) {
    Rest rest({.times = 0});
    rest.planned(at(0), at(500));
    EXPECT_EQ(rest.left(at(500), false).us, 0);
}

}  // namespace
}  // namespace reprieve
