#include "kube/server_clock.h"

#include <gtest/gtest.h>

namespace reprieve {
namespace {

constexpr Duration kHour{std::int64_t{3'600} * 1'000'000};

TEST(ServerClock, SmallDifferencesMeanNothing) {
    ServerClock clock;
    clock.hear({1'500'000});
    clock.hear({-4'000'000});
    EXPECT_EQ(clock.ahead(), Duration{0});
}

TEST(ServerClock, ALargeOneIsCorrectedAndStays) {
    ServerClock clock;
    clock.hear(kHour);
    EXPECT_EQ(clock.ahead(), kHour);
    clock.hear({kHour.us + 700'000});
    EXPECT_EQ(clock.ahead(), kHour) << "time does not jump with every answer";
    EXPECT_GT(clock.now(), machine_clock());
}

TEST(ServerClock, AClockThatWasPutRightIsBelievedAgain) {
    ServerClock clock;
    clock.hear({-kHour.us});
    EXPECT_EQ(clock.ahead(), Duration{-kHour.us});
    clock.hear({300'000});
    EXPECT_EQ(clock.ahead(), Duration{0});
}

}  // namespace
}  // namespace reprieve
