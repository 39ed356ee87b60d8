#include "kube/pulse.h"

#include <gtest/gtest.h>

namespace reprieve {
namespace {

Pulse::Instant instant(int seconds) { return Pulse::Instant(std::chrono::seconds(1'000 + seconds)); }

constexpr Duration kLimit{3'000'000};

TEST(PulseTest, SilenceCountsFromTheRequest) {
    const Pulse pulse;
    EXPECT_FALSE(pulse.is_silent(0, instant(0), kLimit, instant(2)));
    EXPECT_TRUE(pulse.is_silent(0, instant(0), kLimit, instant(3)));
}

TEST(PulseTest, WhoeverHearsOthersIsNotInSilence) {
    Pulse pulse;
    pulse.hear(0, instant(2));
    EXPECT_FALSE(pulse.is_silent(0, instant(0), kLimit, instant(4)));
    EXPECT_TRUE(pulse.is_silent(0, instant(0), kLimit, instant(5)));
}

TEST(PulseTest, ARoundIsGivenUpOnce) {
    Pulse pulse;
    EXPECT_TRUE(pulse.give_up(0));
    EXPECT_FALSE(pulse.give_up(0)) << "another request of the same round";
    EXPECT_EQ(pulse.round(), 1U);
}

TEST(PulseTest, RoundsDoNotHearEachOther) {
    Pulse pulse;
    pulse.hear(0, instant(2));
    ASSERT_TRUE(pulse.give_up(0));
    EXPECT_TRUE(pulse.is_silent(1, instant(1), kLimit, instant(4))) << "what came before was in another round";
    pulse.hear(0, instant(4));
    EXPECT_TRUE(pulse.is_silent(1, instant(1), kLimit, instant(4)));
    pulse.hear(1, instant(4));
    EXPECT_FALSE(pulse.is_silent(1, instant(1), kLimit, instant(4)));
    EXPECT_TRUE(pulse.is_silent(0, instant(0), kLimit, instant(4))) << "what was given up stays so";
}

}  // namespace
}  // namespace reprieve
