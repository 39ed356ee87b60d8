// Every eviction is needed: put back alone, it leaves its owner without room.
#include "audit/test_world.h"

namespace reprieve {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(AuditNeed, FindsAVictimTooMany) {
    TestWorld world;
    world.node("n1");
    for (const char* name : {"low1", "low2"})
        world.pod(name, {.node = "n1", .cpu = 2000});
    world.pod("high", {.cpu = 2000, .priority = 10});
    world.place("high", "n1", true);
    world.evict("low1", "n1", "high");
    EXPECT_THAT(world.found(), IsEmpty());
    world.evict("low2", "n1", "high");
    EXPECT_THAT(world.found(), ElementsAre("needless default/low1", "needless default/low2"));
}

TEST(AuditNeed, SeesWhatFreesAQueue) {
    TestWorld world;
    world.node("n1", {.cpu = 10000});
    world.queue("q", [&](Queue& queue) { queue.limit = world.amounts({{"cpu", 2000}}); });
    world.pod("in-queue", {.node = "n1", .cpu = 2000, .queue = "q"});
    world.pod("outside", {.node = "n1", .cpu = 2000});
    world.pod("high", {.cpu = 2000, .priority = 10, .queue = "q"});
    order_action(world.config, ActionKind::kPreempt, [](ActionConfig& action) { action.cross_queue = true; });
    world.place("high", "n1", true);
    world.evict("in-queue", "n1", "high");
    EXPECT_THAT(world.found(), IsEmpty());
    world.evict("outside", "n1", "high");
    EXPECT_THAT(world.found(), ElementsAre("needless default/outside"));
}

TEST(AuditNeed, SeesAntiAffinityFromAfar) {
    TestWorld world;
    world.node("n1", {.labels = {{"zone", "a"}}});
    world.node("n2", {.labels = {{"zone", "a"}}});
    world.node("n3", {.labels = {{"zone", "b"}}});
    const auto repels = [&](PodSpec& spec) { spec.anti_affinity = {world.near("zone", "app", "web")}; };
    world.pod("blocks", {.node = "n2", .spec = repels});
    world.pod("elsewhere", {.node = "n3", .spec = repels});
    world.pod("high", {.priority = 10, .labels = {{"app", "web"}}});
    world.place("high", "n1", true);
    world.evict("blocks", "n2", "high");
    EXPECT_THAT(world.found(), IsEmpty());
    world.evict("elsewhere", "n3", "high");
    EXPECT_THAT(world.found(), ElementsAre("needless default/elsewhere"));
}

TEST(AuditNeed, MembersThatRestOnEachOtherProveNothing) {
    TestWorld world;
    world.node("n1", {.labels = {{"zone", "a"}}});
    world.node("n2", {.labels = {{"zone", "b"}}});
    world.gang("g", 2);
    const auto wants = [&](PodSpec& spec) { spec.affinity = {world.near("zone", "app", "db")}; };
    // While it runs in zone b, neither member may be the first in zone a.
    world.pod("db", {.node = "n2", .cpu = 4000, .labels = {{"app", "db"}}});
    for (const char* name : {"a", "b"}) {
        world.pod(name, {.priority = 10, .group = "g", .labels = {{"app", "db"}}, .spec = wants});
        world.place(name, "n1", true, "g");
    }
    world.evict("db", "n2", "g", "gangPreempt");
    EXPECT_THAT(world.found(), IsEmpty());
}

TEST(AuditNeed, LetsTheOwnerChooseOtherDevices) {
    TestWorld world;
    world.node("n1", {.edit = [](Node& node) { node.devices = {{0, 8 * kGi, 0, 0}, {1, 8 * kGi, 0, 0}}; }});
    const auto holds = [](std::int32_t index) {
        return [index](Pod& pod) { pod.make_extras().held_devices = {{index, 4 * kGi, 0}}; };
    };
    const auto asks = [](std::int64_t memory) {
        return [memory](PodSpec& spec) {
            spec.devices.shares = 1;
            spec.devices.share_memory = memory;
        };
    };
    world.pod("a", {.node = "n1", .cpu = 1, .spec = asks(4 * kGi), .edit = holds(0)});
    world.pod("b", {.node = "n1", .cpu = 1, .spec = asks(4 * kGi), .edit = holds(1)});
    world.pod("c", {.cpu = 1, .priority = 10, .spec = asks(8 * kGi)});
    world.place("c", "n1", true).devices = {"1:8Gi"};
    world.evict("b", "n1", "c");
    EXPECT_THAT(world.found(), IsEmpty());
    world.evict("a", "n1", "c");
    EXPECT_THAT(world.found(), ElementsAre("needless default/a", "needless default/b"));
}

TEST(AuditNeed, GivesAWholeGangBackTogether) {
    TestWorld world;
    world.node("n1", {.cpu = 2000});
    world.node("n2", {.cpu = 2000});
    world.gang("g", 2);
    world.pod("m1", {.node = "n1", .cpu = 2000, .group = "g"});
    world.pod("m2", {.node = "n2", .cpu = 2000, .group = "g"});
    world.pod("high", {.cpu = 2000, .priority = 10});
    world.place("high", "n1", true);
    // On n2 nothing is needed, but the gang cannot run without its member there.
    for (const char* name : {"m1", "m2"})
        world.evict(name, name == std::string("m1") ? "n1" : "n2", "high", "gangPreempt").unit = UnitKind::kWhole;
    EXPECT_THAT(world.found(), IsEmpty());
    world.node("n3", {.cpu = 2000});
    world.plan.placements[0].node = "n3";
    EXPECT_THAT(world.found(), ElementsAre("needless default/m1"));
}

TEST(AuditNeed, GivesSurplusBackPodByPod) {
    TestWorld world;
    world.node("n1", {.cpu = 4000});
    world.gang("g", 1);
    for (const char* name : {"m1", "m2", "m3", "m4"})
        world.pod(name, {.node = "n1", .group = "g"});
    world.pod("high", {.priority = 10});
    world.place("high", "n1", true);
    world.evict("m1", "n1", "high", "gangPreempt").unit = UnitKind::kSafe;
    EXPECT_THAT(world.found(), IsEmpty());
    world.evict("m2", "n1", "high", "gangPreempt").unit = UnitKind::kSafe;
    EXPECT_THAT(world.found(), ElementsAre("needless default/m1", "needless default/m2"));
}

TEST(AuditNeed, SurplusMembersOfTheOwnerDoNotEvict) {
    TestWorld world;
    world.node("n1", {.cpu = 2000});
    world.gang("g", 1, [](Gang& gang) { gang.priority = 10; });
    for (const char* name : {"low1", "low2"})
        world.pod(name, {.node = "n1"});
    for (const char* name : {"m1", "m2"})
        world.pod(name, {.group = "g"});
    world.place("m1", "n1", true, "g");
    world.evict("low1", "n1", "g", "gangPreempt");
    world.unplaced("m2", "g");
    EXPECT_THAT(world.found(), IsEmpty());
    world.plan.unplaced.clear();
    world.place("m2", "n1", true, "g");
    world.evict("low2", "n1", "g", "gangPreempt");
    EXPECT_THAT(world.found(), ElementsAre("needless default/low1", "needless default/low2"));
    order_action(world.config, ActionKind::kGangPreempt, [](ActionConfig& action) { action.surplus_preempts = true; });
    EXPECT_THAT(world.found(), IsEmpty());
}

TEST(AuditNeed, BelievesAnEvictionThatSpreadMayHaveNeeded) {
    TestWorld world;
    world.node("n1", {.labels = {{"zone", "a"}}});
    world.node("n2", {.labels = {{"zone", "b"}}});
    const auto spread = [&](PodSpec& spec) {
        spec.spread = {{.topology_key = world.id("zone"), .selector = world.selects("app", "x")}};
    };
    world.pod("low", {.node = "n1", .labels = {{"app", "x"}}});
    world.pod("high", {.priority = 10, .labels = {{"app", "x"}}, .spec = spread});
    world.pod("other", {.priority = 5, .labels = {{"app", "x"}}});
    world.place("high", "n1", true);
    world.evict("low", "n1", "high");
    // Had `other` come first, zone b would hold one and `low` could have stayed; nobody can tell.
    world.place("other", "n2", true);
    EXPECT_THAT(world.found(), IsEmpty());
    // Here `there` was in zone b all along.
    world.pod("there", {.node = "n2", .labels = {{"app", "x"}}});
    EXPECT_THAT(world.found(), ElementsAre("needless default/low"));
}

// A job takes more than a quota's free room while a pod that may not be preempted waits for its guarantee.
TEST(AuditNeed, KeepsRoomForThoseWhoWaitForTheirGuarantee) {
    for (const bool fixed : {true, false}) {
        TestWorld world;
        world.node("n1", {.cpu = 10000});
        world.queue("q", [&](Queue& queue) {
            queue.is_quota = true;
            queue.limit = world.amounts({{"cpu", 4000}});
            queue.guarantee = world.amounts({{"cpu", 2000}});
        });
        world.pod("low", {.node = "n1", .cpu = 2000, .queue = "q"});
        world.pod("waits",
                  {.cpu = 2000,
                   .queue = "q",
                   .labels = {{"quota.scheduling.koordinator.sh/preemptible", fixed ? "false" : "true"}}});
        world.pod("high", {.cpu = 2000, .priority = 10, .queue = "q"});
        world.place("high", "n1", true);
        world.evict("low", "n1", "high", "jobPreempt");
        world.unplaced("waits");
        EXPECT_EQ(world.found().empty(), fixed);
    }
}

TEST(AuditNeed, DoesNotJudgeWhatAComputedShareLimits) {
    TestWorld world;
    world.node("n1", {.cpu = 10000});
    world.queue("q", [&](Queue& queue) { queue.is_quota = true; });
    world.pod("low", {.node = "n1", .queue = "q"});
    world.pod("high", {.priority = 10, .queue = "q"});
    world.place("high", "n1", true);
    world.evict("low", "n1", "high", "jobPreempt");
    EXPECT_THAT(world.found(), ElementsAre("needless default/low"));
    world.config.plugins.quota.limit = QuotaLimit::kRuntime;
    EXPECT_THAT(world.found(), IsEmpty());
}

TEST(AuditNeed, DoesNotJudgeWhatReplicasMayHaveHeld) {
    TestWorld world;
    world.node("n1", {.cpu = 10000});
    world.serving("s");
    world.pod("low", {.node = "n1"});
    world.pod("high", {.priority = 10});
    world.place("high", "n1", true);
    world.evict("low", "n1", "high");
    EXPECT_THAT(world.found(), ElementsAre("needless default/low"));
    world.config.actions.emplace(2);
    world.config.actions->front().kind = ActionKind::kServingPreempt;
    world.config.actions->back().kind = ActionKind::kPreempt;
    EXPECT_THAT(world.found(), IsEmpty());
}

}  // namespace
}  // namespace reprieve
