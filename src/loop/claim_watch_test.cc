#include "loop/claim_watch.h"

#include "loop/loop_test_world.h"

namespace reprieve {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Duration kMinute{60'000'000};

// What somebody who waits for these pods says at some minute.
Plan claiming(std::int64_t minute, std::vector<std::string> pods) {
    Plan plan;
    plan.now = kLoopStart + Duration{minute * kMinute.us};
    Match& match = plan.matches.emplace_back();
    for (std::string& pod : pods)
        match.victims.push_back({.pod = std::move(pod), .as = "Surplus"});
    return plan;
}

class ClaimWatchTest : public LoopTest {
protected:
    ClaimWatchTest() {
        start(node_yaml("n1") + pod_yaml({.name = "a", .node = "n1"}) + pod_yaml({.name = "b", .node = "n1"}));
        run();
    }
    void take(std::int64_t minute, std::vector<std::string> pods) {
        watch_.take(claiming(minute, std::move(pods)), cluster());
    }
    OverdueClaims overdue(std::int64_t minute) { return watch_.overdue(kLoopStart + Duration{minute * kMinute.us}); }

    ClaimWatch watch_{SchedulerConfig()};
};

TEST_F(ClaimWatchTest, AClaimIsOverdueWhenItHasLastedTooLong) {
    take(0, {"default/a"});
    take(5, {"default/a", "default/b"});
    EXPECT_THAT(overdue(10), IsEmpty());
    EXPECT_THAT(overdue(11), ElementsAre("default/a"));
    EXPECT_THAT(overdue(16), ElementsAre("default/a", "default/b"));
}

TEST_F(ClaimWatchTest, AClaimThatWasGivenUpInTimeBeginsAnew) {
    take(0, {"default/a"});
    take(5, {});
    take(6, {"default/a"});
    EXPECT_THAT(overdue(11), IsEmpty());
}

TEST_F(ClaimWatchTest, WhoIsOverdueStaysSoUntilItIsGone) {
    take(0, {"default/a", "default/gone"});
    take(11, {});
    take(20, {});
    EXPECT_THAT(overdue(20), ElementsAre("default/a"));
}

TEST_F(ClaimWatchTest, HowLongIsForTheConfigurationToSay) {
    SchedulerConfig config;
    config.actions.emplace().emplace_back().kind = ActionKind::kServingPreempt;
    config.actions->front().claim_timeout = kMinute;
    watch_ = ClaimWatch(config);
    take(0, {"default/a"});
    EXPECT_THAT(overdue(2), ElementsAre("default/a"));
}

// Nobody follows what is written on a Revision here, as where its autoscaler is down.
TEST_F(LoopTest, a_controller_that_never_acts_is_not_waited_for_for_ever) {
    const auto node = [](const std::string& name) {
        return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + ", labels: {reprieve.dev/plane: " + name +
               "}}\nstatus: {allocatable: {cpu: '2', pods: '20'}}\n";
    };
    const auto serving = [](const std::string& name, int priority, int replicas) {
        return "---\napiVersion: reprieve.dev/v1\nkind: ServingDeployment\nmetadata: {name: " + name +
               "}\nspec: {priority: " + std::to_string(priority) + ", replicas: " + std::to_string(replicas) +
               ", resources: {cpu: '1'}, planes: [{name: n1, score: 1}, {name: n2, score: 2}]}\n";
    };
    const auto branch = [](const std::string& plane) {
        std::string labels = "labels: {reprieve.dev/serving: idle, reprieve.dev/plane: " + plane + "}";
        std::string out = "---\napiVersion: serving.knative.dev/v1\nkind: Revision\nmetadata: {name: idle-" + plane +
                          ", " + labels + ", annotations: {autoscaling.knative.dev/max-scale: '2'}}\n";
        for (const char* number : {"-1", "-2"})
            out += "---\napiVersion: v1\nkind: Pod\nmetadata: {name: idle-" + plane + number + ", " + labels +
                   "}\nspec: {nodeName: " + plane +
                   ", containers: [{name: c, resources: {requests: {cpu: '1'}}}]}\nstatus: {phase: Running, "
                   "conditions: [{type: Ready, status: 'True'}]}\n";
        return out;
    };
    start(node("n1") + node("n2") + serving("idle", 1, 4) + branch("n1") + branch("n2") + serving("chat", 9, 1));
    run({.cycles = 35});                 // every half minute: one timeout and a half
    std::vector<std::string> waited_on;  // in turn
    for (const Plan& plan : record().plans) {
        ASSERT_EQ(plan.matches.size(), 1U);
        if (waited_on.empty() || waited_on.back() != plan.matches.front().node)
            waited_on.push_back(plan.matches.front().node);
    }
    EXPECT_THAT(waited_on, ElementsAre("n1", "n2"));
    EXPECT_THAT(record().violations, IsEmpty());
}

}  // namespace
}  // namespace reprieve
