// Verdicts on worlds so small that the best choice is plain to see.
#include "referee/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "referee/test_cluster.h"

namespace reprieve {
namespace {

using testing::ElementsAre;
constexpr Time kNow{std::int64_t{1'772'442'000} * 1'000'000};  // 2026-03-02T09:00:00Z

class Verdicts : public testing::Test {
protected:
    Verdicts() : world_(SchedulerConfig{}) {
        put("Node n1", judged_node("n1", 4));
        put("Node n2", judged_node("n2", 4));
    }
    void put(const std::string& key, const std::string& json) {
        const auto done = world_.apply({.at = kNow, .key = key, .believed = false, .json = json});
        ASSERT_TRUE(done.has_value()) << done.error().message;
    }
    void pod(const JudgedPod& one) { put("Pod ns/" + one.name, judged_pod(one)); }
    Ruling judged(std::set<std::string> victims) {
        const RecordedWorld before = world_.world();
        const auto ruling = judge(world_, {.owner = "ns/high", .victims = std::move(victims), .nodes = {}}, {}, kNow);
        EXPECT_TRUE(ruling.has_value()) << ruling.error().message;
        EXPECT_EQ(world_.world().size(), before.size());
        for (const auto& [key, object] : before) {
            EXPECT_EQ(world_.world().at(key).json, object.json) << "the world is as before";
            EXPECT_EQ(world_.world().at(key).overlay, object.overlay) << "the world is as before";
        }
        return ruling.value_or(Ruling());
    }

    Rebuild world_;
};

TEST_F(Verdicts, NeedlessIfItFittedAnyway) {
    pod({.name = "a", .priority = 1, .cpu = 4, .node = "n1"});
    pod({.name = "high", .priority = 100, .cpu = 2});
    const Ruling ruling = judged({"ns/a"});
    EXPECT_STREQ(to_text(ruling.verdict), "needless");
    EXPECT_EQ(ruling.least_pods, 0);
}

TEST_F(Verdicts, TooManyIfAPartWouldHaveBeenEnough) {
    for (const char* name : {"a", "b", "c", "d"})
        pod({.name = name, .priority = 1, .cpu = 1, .node = "n1"});
    pod({.name = "full", .priority = 200, .cpu = 4, .node = "n2"});
    pod({.name = "high", .priority = 100, .cpu = 2});
    const Ruling ruling = judged({"ns/a", "ns/b", "ns/c"});
    EXPECT_STREQ(to_text(ruling.verdict), "too many") << ruling.evidence;
    EXPECT_EQ(ruling.could_have_stayed.size(), 1U);
    EXPECT_EQ(ruling.least_pods, 2);
}

TEST_F(Verdicts, TooManyIfAPartWouldHaveBeenEnoughElsewhere) {
    put("PodGroup.scheduling.volcano.sh ns/high", judged_gang("high", 2));
    put("Node n3", judged_node("n3", 4));
    pod({.name = "a", .priority = 1, .cpu = 4, .node = "n1"});
    pod({.name = "b", .priority = 1, .cpu = 4, .node = "n2"});
    for (const char* name : {"high-0", "high-1"})
        pod({.name = name, .priority = 100, .cpu = 4, .group = "high"});
    const Ruling ruling = judged({"ns/a", "ns/b"});
    EXPECT_STREQ(to_text(ruling.verdict), "too many") << ruling.evidence;
    EXPECT_EQ(ruling.could_have_stayed.size(), 1U);
    EXPECT_EQ(ruling.least_pods, 1);
}

TEST_F(Verdicts, NotCheapestIfAnotherSetCostsLess) {
    pod({.name = "dear", .priority = 50, .cpu = 4, .node = "n1"});
    pod({.name = "cheap", .priority = 1, .cpu = 4, .node = "n2"});
    pod({.name = "high", .priority = 100, .cpu = 2});
    const Ruling ruling = judged({"ns/dear"});
    EXPECT_STREQ(to_text(ruling.verdict), "not cheapest") << ruling.evidence;
    EXPECT_THAT(ruling.cheaper, ElementsAre("ns/cheap"));
    EXPECT_EQ(ruling.cheaper_status, "optimal");
    EXPECT_STREQ(to_text(judged({"ns/cheap"}).verdict), "fair");
}

TEST_F(Verdicts, UnlawfulIfABudgetWasBrokenThoughItNeedNotBe) {
    put("PodDisruptionBudget.policy ns/kept", judged_budget("kept", 0));
    pod({.name = "a", .priority = 1, .cpu = 4, .node = "n1", .label = "kept"});
    pod({.name = "b", .priority = 50, .cpu = 4, .node = "n2"});
    pod({.name = "high", .priority = 100, .cpu = 2});
    const Ruling ruling = judged({"ns/a"});
    EXPECT_STREQ(to_text(ruling.verdict), "unlawful") << ruling.evidence;
    EXPECT_THAT(ruling.cheaper, ElementsAre("ns/b"));
}

TEST_F(Verdicts, ABrokenBudgetIsFairWhereNothingElseMakesRoom) {
    put("PodDisruptionBudget.policy ns/kept", judged_budget("kept", 0));
    pod({.name = "a", .priority = 1, .cpu = 4, .node = "n1", .label = "kept"});
    pod({.name = "full", .priority = 200, .cpu = 4, .node = "n2"});
    pod({.name = "high", .priority = 100, .cpu = 2});
    EXPECT_STREQ(to_text(judged({"ns/a"}).verdict), "fair");
}

TEST_F(Verdicts, UnlawfulIfThePriorityIsNotLower) {
    pod({.name = "a", .priority = 100, .cpu = 4, .node = "n1"});
    pod({.name = "full", .priority = 200, .cpu = 4, .node = "n2"});
    pod({.name = "high", .priority = 100, .cpu = 2});
    EXPECT_STREQ(to_text(judged({"ns/a"}).verdict), "unlawful");
}

TEST_F(Verdicts, AGangIsServedOnceItsMinimumIs) {
    put("PodGroup.scheduling.volcano.sh ns/high", judged_gang("high", 2));
    for (const char* name : {"a", "b"})
        pod({.name = name, .priority = 1, .cpu = 4, .node = name[0] == 'a' ? "n1" : "n2"});
    for (const char* name : {"high-0", "high-1", "high-2"})
        pod({.name = name, .priority = 100, .cpu = 4, .group = "high"});
    // Both members of the minimum need a node for themselves; a third one would have to wait.
    EXPECT_STREQ(to_text(judged({"ns/a", "ns/b"}).verdict), "fair");
    // One node is room for one member, and one member is no gang.
    EXPECT_STREQ(to_text(judged({"ns/a"}).verdict), "unclear");
}

TEST_F(Verdicts, NobodyDecidedForAGangThatWasNotComplete) {
    put("PodGroup.scheduling.volcano.sh ns/high", judged_gang("high", 2));
    pod({.name = "a", .priority = 1, .cpu = 4, .node = "n1"});
    pod({.name = "high-0", .priority = 100, .cpu = 4, .group = "high"});
    EXPECT_FALSE(judged({"ns/a"}).heard);
}

TEST_F(Verdicts, NobodyDecidedInAStateInWhichAVictimDidNotRunYet) {
    pod({.name = "a", .priority = 1, .cpu = 4});
    pod({.name = "high", .priority = 100, .cpu = 2});
    EXPECT_FALSE(judged({"ns/a"}).heard);
}

TEST_F(Verdicts, UnclearIfItDoesNotFitByOurRules) {
    pod({.name = "a", .priority = 1, .cpu = 1, .node = "n1"});
    pod({.name = "full", .priority = 200, .cpu = 3, .node = "n1"});
    pod({.name = "full-2", .priority = 200, .cpu = 4, .node = "n2"});
    pod({.name = "high", .priority = 100, .cpu = 2});
    EXPECT_STREQ(to_text(judged({"ns/a"}).verdict), "unclear");
}

}  // namespace
}  // namespace reprieve
