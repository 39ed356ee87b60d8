// Plans about serving deployments that break one rule each.
#include "audit/test_world.h"

namespace reprieve {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

// Two nodes of one device; idle (10) runs on both, chat (50) waits for the first of them.
class ServingAuditTest : public testing::Test {
protected:
    ServingAuditTest() {
        for (const char* name : {"n1", "n2"})
            world.node(name, {.edit = [this](Node& node) {
                           node.labels.set(world.id("reprieve.dev/plane"), world.id("w"));
                           node.device_dim = world.dim("gpu");
                           node.allocatable.set(node.device_dim, 1);
                       }});
        deployment("chat", 50, 1, 0);
        deployment("idle", 10, 2, 2);
        replica("idle-1", "n1");
        replica("idle-2", "n2");
        world.plan.matches = {
            {.owner = "default/chat", .node = "n1", .victims = {{"default/idle-1", "Normal"}}, .uses_free = 0}};
        world.plan.scale = {
            {.deployment = "default/idle", .plane = "w", .from = 2, .to = 1, .hints = {"default/idle-1"}}};
        world.plan.annotations = {{.pod = "default/idle-1",
                                   .set = {{"reprieve.dev/claimed-by", "default/chat"},
                                           {"controller.kubernetes.io/pod-deletion-cost", "-1000"}},
                                   .remove = {}}};
        Eviction& eviction = world.evict("idle-1", "n1", "chat", "servingPreempt");
        eviction.unit = UnitKind::kReplica;
        eviction.mode = EvictionMode::kScaleDown;
    }

    void deployment(const std::string& name, std::int32_t priority, std::int64_t desired, std::int64_t commit) {
        world.serving(name, [&](ServingDeployment& made) {
            made.priority = priority;
            made.replicas = desired;
            made.resources = world.amounts({{"gpu", 1}});
            made.planes = {{.name = world.id("w"), .score = 0, .committed = commit}};
        });
    }
    void replica(const std::string& name, const std::string& node, const std::function<void(Pod&)>& edit = {}) {
        const std::string owner = name.substr(0, name.find('-'));
        world.pod(name,
                  {.node = node,
                   .labels = {{"reprieve.dev/serving", owner}, {"reprieve.dev/plane", "w"}},
                   .spec = [this](PodSpec& spec) { spec.requests = world.amounts({{"gpu", 1}, {"pods", 1}}); },
                   .edit = edit});
    }
    Match& match() { return world.plan.matches.front(); }
    ScaleChange& scale() { return world.plan.scale.front(); }

    TestWorld world;
};

TEST_F(ServingAuditTest, APlanThatKeepsTheRulesPasses) { EXPECT_THAT(world.found(), IsEmpty()); }

TEST_F(ServingAuditTest, SoDoesOneThatHastensWhoIsLeaving) {
    world.node("n3", {.edit = [this](Node& node) {
                   node.labels.set(world.id("reprieve.dev/plane"), world.id("w"));
                   node.allocatable.set(world.dim("gpu"), 1);
               }});
    replica("idle-3", "n3", [this](Pod& pod) { pod.deleting = world.now; });
    match() = {.owner = "default/chat", .node = "n3", .victims = {{"default/idle-3", "Terminating"}}, .uses_free = 0};
    world.plan.scale.clear();
    world.plan.force_deletes = {"default/idle-3"};
    world.plan.annotations.front().pod = "default/idle-3";
    world.plan.evictions.front().pod = "default/idle-3";
    world.plan.evictions.front().node = "n3";
    world.plan.evictions.front().mode = EvictionMode::kForceDelete;
    EXPECT_THAT(world.found(), IsEmpty());
}

TEST_F(ServingAuditTest, VictimsAreLessImportant) {
    deployment("peer", 50, 2, 2);
    world.node("n3", {.edit = [this](Node& node) {
                   node.labels.set(world.id("reprieve.dev/plane"), world.id("w"));
                   node.allocatable.set(world.dim("gpu"), 2);
               }});
    replica("peer-1", "n3");
    replica("peer-2", "n3");
    match().node = "n3";
    match().victims = {{"default/peer-1", "Normal"}};
    EXPECT_THAT(world.found(), Contains("priority default/peer-1"));
}

TEST_F(ServingAuditTest, APodIsInOneMatch) {
    world.plan.matches.push_back(match());
    EXPECT_THAT(world.found(), Contains("match default/idle-1"));
}

TEST_F(ServingAuditTest, TheLastReplicaStays) {
    world.plan.matches.push_back(
        {.owner = "default/chat", .node = "n2", .victims = {{"default/idle-2", "Normal"}}, .uses_free = 0});
    EXPECT_THAT(world.found(), Contains("last-replica default/idle-1"));
}

TEST_F(ServingAuditTest, StagesAreToldAsTheyAre) {
    match().victims = {{"default/idle-1", "Terminating"}};
    EXPECT_THAT(world.found(), Contains("match default/idle-1"));
}

TEST_F(ServingAuditTest, NoMoreSurplusThanThereIs) {
    match().victims = {{"default/idle-1", "Surplus"}};
    world.plan.scale.clear();
    world.plan.evictions.clear();
    EXPECT_THAT(world.found(), ElementsAre("match default/idle-1"));
}

TEST_F(ServingAuditTest, TheRoomAddsUp) {
    match().victims.clear();
    world.plan.scale.clear();
    world.plan.evictions.clear();
    world.plan.annotations.clear();
    EXPECT_THAT(world.found(), ElementsAre("room n1"));
}

TEST_F(ServingAuditTest, FreeDevicesMustBeFree) {
    match().uses_free = 1;
    EXPECT_THAT(world.found(), ElementsAre("room n1"));
}

TEST_F(ServingAuditTest, NumbersOfReplicasFollowFromTheClaims) {
    scale().to = 0;
    EXPECT_THAT(world.found(), ElementsAre("last-replica default/idle", "scale default/idle"));
}

TEST_F(ServingAuditTest, CommitsAreAsTheyAre) {
    scale().from = 3;
    EXPECT_THAT(world.found(), ElementsAre("scale default/idle"));
}

TEST_F(ServingAuditTest, HintsAreThoseWhoGo) {
    scale().hints = {"default/idle-2"};
    EXPECT_THAT(world.found(), ElementsAre("scale default/idle"));
}

TEST_F(ServingAuditTest, AClaimWithoutScaleFreesNobody) {
    world.plan.scale.clear();
    EXPECT_THAT(world.found(), ElementsAre("scale default/idle-1"));
}

TEST_F(ServingAuditTest, NobodyGrowsWithoutRoom) {
    world.plan.scale.push_back({.deployment = "default/chat", .plane = "w", .from = 0, .to = 1, .hints = {}});
    EXPECT_THAT(world.found(), ElementsAre("room default/chat"));
}

TEST_F(ServingAuditTest, NobodyGrowsBeyondItsWish) {
    world.plan.scale = {{.deployment = "default/idle", .plane = "w", .from = 2, .to = 3, .hints = {}}};
    world.plan.matches.clear();
    world.plan.evictions.clear();
    world.plan.annotations.clear();
    EXPECT_THAT(world.found(), ElementsAre("room default/idle", "scale default/idle"));
}

TEST_F(ServingAuditTest, ClaimsAreWritten) {
    world.plan.annotations.clear();
    EXPECT_THAT(world.found(), ElementsAre("claim default/idle-1"));
}

TEST_F(ServingAuditTest, NobodyIsClaimedForNothing) {
    world.plan.annotations.push_back(
        {.pod = "default/idle-2", .set = {{"reprieve.dev/claimed-by", "default/chat"}}, .remove = {}});
    EXPECT_THAT(world.found(), ElementsAre("claim default/idle-2"));
}

TEST_F(ServingAuditTest, WhoMakesRoomIsAmongTheEvictions) {
    world.plan.evictions.clear();
    EXPECT_THAT(world.found(), ElementsAre("match default/idle-1"));
}

TEST_F(ServingAuditTest, NobodyIsForcedOutForNothing) {
    replica("idle-3", "n2", [this](Pod& pod) { pod.deleting = world.now; });
    world.plan.force_deletes = {"default/idle-3"};
    EXPECT_THAT(world.found(), ElementsAre("match default/idle-3"));
}

TEST_F(ServingAuditTest, ProtectedReplicasStay) {
    replica("idle-4", "n1", [](Pod& pod) { pod.make_extras().preemptible = false; });
    match().victims = {{"default/idle-4", "Normal"}};
    world.plan.evictions.front().pod = "default/idle-4";
    EXPECT_THAT(world.found(), Contains("protected default/idle-4"));
}

}  // namespace
}  // namespace reprieve
