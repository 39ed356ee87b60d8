// What became of pods: how many lives are kept, and whose.
#include "window/lives.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace reprieve::window {
namespace {

class LivesTest : public ::testing::Test {
protected:
    [[nodiscard]] Pod pod(int number) {
        Pod pod;
        pod.ns = cluster_.words().string("a");
        pod.name = fmt::format("p{}", number);
        pod.uid = fmt::format("u{}", number);
        pod.labels = cluster_.words().labels({});
        pod.spec = cluster_.words().spec(PodSpec());
        return pod;
    }
    void tell(Pod pod, bool removed = false) {
        const Change change{.object = pod, .removed = removed, .digest = {}, .text = nullptr};
        now_ = now_ + Duration{1'000'000};
        lives_.note(change, cluster_, now_);
        const bool told = removed ? cluster_.remove(pod) : cluster_.add(std::move(pod)).has_value();
        ASSERT_TRUE(told);
    }
    void come_and_go(int number) {
        tell(pod(number));
        tell(pod(number), true);
    }
    void evict(int number) {
        ASSERT_TRUE(cluster_.refresh(now_).has_value());
        Eviction eviction;
        eviction.pod = fmt::format("a/p{}", number);
        lives_.evicted(fmt::format("u{}", number), cluster_, eviction, "d", now_);
    }

    Cluster cluster_{ClusterOptions{}};
    Lives lives_;
    Time now_ = *parse_time("2026-01-01T12:00:00Z");
};

TEST_F(LivesTest, OfManyPodsThatCameAndWentThoseWithTheNewestNewsAreKept) {
    tell(pod(0));
    const int many = 3 * static_cast<int>(Lives::kMostOthers);
    for (int i = 1; i <= many; ++i) {
        come_and_go(i);
        if (i % 1000 == 0) tell(pod(0));
    }
    EXPECT_EQ(lives_.all().size(), Lives::kMostOthers);
    EXPECT_TRUE(lives_.all().contains("u0"));
    EXPECT_TRUE(lives_.all().contains(fmt::format("u{}", many)));
    EXPECT_FALSE(lives_.all().contains("u1"));
}

TEST_F(LivesTest, WhoeverWasEvictedIsNotForgottenForThoseWhoWereNot) {
    tell(pod(0));
    evict(0);
    tell(pod(0), true);
    for (int i = 1; i <= 2 * static_cast<int>(Lives::kMostOthers); ++i)
        come_and_go(i);
    EXPECT_TRUE(lives_.all().contains("u0"));
    EXPECT_EQ(lives_.all().size(), Lives::kMostOthers + 1);
}

}  // namespace
}  // namespace reprieve::window
