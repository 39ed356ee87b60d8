#include "kube/known_pods.h"

#include <gtest/gtest.h>

namespace reprieve {
namespace {

class KnownPodsTest : public ::testing::Test {
protected:
    Pod pod(const char* name, const char* uid = "u1") {
        Pod made;
        made.ns = words_.string("ns");
        made.name = name;
        made.uid = uid;
        return made;
    }
    Pod bound(const char* name, const char* uid = "u1") {
        Pod made = pod(name, uid);
        made.node = words_.string("n1");
        return made;
    }
    void see(const Pod& pod, const char* version = "1") { see_marked(pod, version, false); }
    void see_marked(const Pod& pod, const char* version = "1", bool by_us = true) {
        pods_.see(pod, words_, {[version] { return std::string(version); }, [by_us] { return by_us; }});
    }
    void nominate(const char* node) {
        pods_.begin_write("ns/a", "u1", [node](KnownPod& entry) { entry.nominated = node; });
    }

    Vocabulary words_;
    KnownPods pods_;
};

TEST_F(KnownPodsTest, RunningPodsAtRestAreNotKept) {
    see(bound("a"));
    EXPECT_EQ(pods_.size(), 0U);
    see(pod("a"));
    EXPECT_EQ(pods_.size(), 1U);
    see(bound("a"));
    EXPECT_EQ(pods_.size(), 0U);
}

TEST_F(KnownPodsTest, ALongGraceMattersOnlyWhileThePodIsLeaving) {
    Pod slow = bound("a");
    slow.grace_seconds = 600;
    see(slow);
    EXPECT_EQ(pods_.size(), 0U);
    slow.deleting = Time{1};
    see(slow);
    EXPECT_EQ(pods_.find("ns/a").grace_seconds, 600);
}

TEST_F(KnownPodsTest, WhoWaitsIsThereWithoutANodeAndWithItsPlan) {
    EXPECT_FALSE(pods_.waits("ns/a", "u1", ""));
    see(pod("a"));
    EXPECT_TRUE(pods_.waits("ns/a", "u1", ""));
    EXPECT_FALSE(pods_.waits("ns/a", "u2", "")) << "another pod of that name";
    EXPECT_FALSE(pods_.waits("ns/a", "u1", "n1")) << "nothing is planned for it";
    pods_.begin_write("ns/a", "u1", [](KnownPod& entry) {
        entry.has_plan = true;
        entry.plan_node = "n1";
    });
    EXPECT_TRUE(pods_.waits("ns/a", "u1", "n1"));
    EXPECT_FALSE(pods_.waits("ns/a", "u1", "n2"));
    pods_.end_write("ns/a", "u1", true, "5");
    see(bound("a"), "6");
    EXPECT_FALSE(pods_.waits("ns/a", "u1", ""));
}

TEST_F(KnownPodsTest, AWriteToAPodThatHadTheNameBeforeChangesNothing) {
    see(pod("a"));
    nominate("n1");  // takes long
    see(pod("a", "u2"), "10");
    EXPECT_EQ(pods_.find("ns/a").nominated, "");
    pods_.begin_write("ns/a", "u2", [](KnownPod& entry) { entry.nominated = "n2"; });
    nominate("n3");
    EXPECT_EQ(pods_.find("ns/a").nominated, "n2");
    pods_.end_write("ns/a", "u1", true, "30");
    see(pod("a", "u2"), "11");
    EXPECT_EQ(pods_.find("ns/a").nominated, "n2") << "the write to the new one is still on its way";
    pods_.end_write("ns/a", "u2", true, "12");
    see(pod("a", "u2"), "13");
    EXPECT_EQ(pods_.find("ns/a").nominated, "");
}

TEST_F(KnownPodsTest, AWriteIsBelievedUntilNewsThatIsNotOlder) {
    see(pod("a"), "10");
    nominate("n1");
    EXPECT_EQ(pods_.find("ns/a").nominated, "n1");
    see(pod("a"), "11");  // while the write is on its way: may be from before it
    EXPECT_EQ(pods_.find("ns/a").nominated, "n1");
    pods_.end_write("ns/a", "u1", true, "20");
    EXPECT_FALSE(pods_.find("ns/a").confirmed);
    see(pod("a"), "19");
    EXPECT_EQ(pods_.find("ns/a").nominated, "n1") << "an event from before the write";
    see(pod("a"), "21");
    EXPECT_EQ(pods_.find("ns/a").nominated, "") << "somebody cleared it after us";
    EXPECT_TRUE(pods_.find("ns/a").confirmed);
}

TEST_F(KnownPodsTest, TheEventOfAWriteMayComeBeforeItsAnswer) {
    see(pod("a"), "10");
    nominate("n1");
    Pod nominated = pod("a");
    nominated.nominated = words_.string("n1");
    see(nominated, "20");
    pods_.end_write("ns/a", "u1", true, "20");
    EXPECT_EQ(pods_.find("ns/a").nominated, "n1");
    EXPECT_TRUE(pods_.find("ns/a").confirmed);
}

TEST_F(KnownPodsTest, VersionsAreNumbersNotTexts) {
    see(pod("a"), "9");
    nominate("n1");
    pods_.end_write("ns/a", "u1", true, "99");
    see(pod("a"), "100");
    EXPECT_EQ(pods_.find("ns/a").nominated, "");
}

TEST_F(KnownPodsTest, AFailedWriteLeavesDoubt) {
    see(pod("a"), "10");
    nominate("n1");
    pods_.end_write("ns/a", "u1", false, "");
    EXPECT_FALSE(pods_.find("ns/a").certain);
    see(pod("a"), "11");
    EXPECT_TRUE(pods_.find("ns/a").certain);
}

TEST_F(KnownPodsTest, AnotherPodOfTheSameNameStartsAfresh) {
    see(pod("a"), "10");
    nominate("n1");
    pods_.end_write("ns/a", "u1", true, "20");
    see(pod("a", "u2"), "15");
    EXPECT_EQ(pods_.find("ns/a").uid, "u2");
    EXPECT_EQ(pods_.find("ns/a").nominated, "");
}

TEST_F(KnownPodsTest, GoneIsForgottenEvenWithAWriteOnItsWay) {
    see(pod("a"));
    nominate("n1");
    pods_.see_gone("ns/a");
    pods_.end_write("ns/a", "u1", true, "20");
    EXPECT_EQ(pods_.size(), 0U);
}

TEST_F(KnownPodsTest, MarksThatWereThereBeforeUsAreOldOnes) {
    Pod victim = bound("a");
    victim.disruption_target = true;
    see_marked(victim);
    using Named = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(pods_.with_old_marks({}), (Named{{"ns/a", "u1"}}));
    EXPECT_EQ(pods_.with_old_marks({"u1"}), Named()) << "it is a victim again";
    Pod preemptor = pod("high", "u2");
    preemptor.make_extras().plan = PlanNote{.victim_uids = {"u1"}};
    see(preemptor);
    EXPECT_EQ(pods_.with_old_marks({}), Named()) << "whoever it goes for is still there";
    pods_.see_gone("ns/high");
    EXPECT_EQ(pods_.with_old_marks({}), (Named{{"ns/a", "u1"}}));
}

TEST_F(KnownPodsTest, MarksOfOurOwnAreLeftToTheirPlan) {
    see(bound("a"));
    pods_.begin_write("ns/a", "u1", [](KnownPod& entry) { entry.marked = true; });
    Pod victim = bound("a");
    victim.disruption_target = true;
    pods_.end_write("ns/a", "u1", true, "5");
    see_marked(victim, "5");
    EXPECT_TRUE(pods_.with_old_marks({}).empty()) << "it is about to be evicted";
}

TEST_F(KnownPodsTest, APlanIsOldWhereTheBindingWasSeenAlthoughItsAnswerGotLost) {
    const auto with_plan = [](Pod made) {
        made.make_extras().plan = PlanNote{.id = "p"};
        return made;
    };
    const auto bind_in_vain = [&] {
        pods_.begin_write("ns/a", "u1", [](KnownPod& entry) { entry.bound = true; });
        pods_.end_write("ns/a", "u1", false, {});
    };
    int told = 0;
    pods_.on_old_plan([&told] { ++told; });
    see(with_plan(pod("a")), "10");
    bind_in_vain();
    EXPECT_TRUE(pods_.with_old_plans().empty()) << "it may be waiting still";
    pods_.begin_write("ns/a", "u1", [](KnownPod& entry) { entry.bound = true; });
    see(with_plan(bound("a")), "11");
    EXPECT_TRUE(pods_.with_old_plans().empty()) << "the answer may come yet";
    pods_.end_write("ns/a", "u1", false, {});
    EXPECT_EQ(pods_.with_old_plans().size(), 1U);
    EXPECT_EQ(told, 1);
}

TEST_F(KnownPodsTest, PlansAndMarksAreRead) {
    Pod made = pod("a");
    made.disruption_target = true;
    made.make_extras().plan = PlanNote{.id = "p", .node = words_.string("n2"), .victim_uids = {"v2", "v1"}};
    made.make_extras().claimed_by = "ns/x";
    see(made);
    const KnownPod known = pods_.find("ns/a");
    EXPECT_TRUE(known.has_plan);
    EXPECT_EQ(known.plan_node, "n2");
    EXPECT_EQ(known.plan_victims, (std::vector<std::string>{"v1", "v2"}));
    EXPECT_TRUE(known.marked);
    EXPECT_EQ(known.claimed_by, "ns/x");
}

}  // namespace
}  // namespace reprieve
