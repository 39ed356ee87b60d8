// Balanced queues: the numbers add up, and who is stopped had to go, in turn.
#include "audit/test_world.h"

namespace reprieve {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

// 4 CPUs shared by queues a and b of equal weight; a runs pods of 1 CPU, b waits for its half.
class BalanceWorld : public TestWorld {
public:
    explicit BalanceWorld(int running) {
        node("n1", {.cpu = 4000, .pods = 20});
        add_queue("a", 4000);
        add_queue("b", 0);
        for (int i = 1; i <= running; ++i)
            running_pod("p" + std::to_string(i), i);
        config.actions = std::vector<ActionConfig>{{.kind = ActionKind::kQueueBalance}};
    }

    void running_pod(const std::string& name, int hours, const std::function<void(Pod&)>& edit = {}) {
        pod(name, {.node = "n1", .queue = "a", .edit = [&, hours](Pod& made) {
                       made.started = Time{now.us - std::int64_t{3600} * 1'000'000 * hours};
                       if (edit) edit(made);
                   }});
    }
    // Queue a, from now on.
    void change_queue(const std::function<void(Queue&)>& edit) {
        Queue made;
        made.name = id("a");
        made.request = amounts({{"cpu", 100'000}});
        edit(made);
        cluster.apply(Object(std::move(made)));
    }
    Eviction& stop(const std::string& name, const std::string& stage = "preempt") {
        Eviction& item = evict(name, "n1", "", "queueBalance");
        item.owner = "";
        item.stage = stage;
        return item;
    }
    void say(const std::string& queue,
             std::int64_t allocated,
             std::int64_t preempting,
             std::int64_t used,
             std::int64_t live) {
        plan.queues.push_back({queue,
                               {{"deserved", {{"cpu", 2000}}},
                                {"allocated", {{"cpu", allocated}}},
                                {"used", {{"cpu", used}}},
                                {"usedLive", {{"cpu", live}}},
                                {"preempting", {{"cpu", preempting}}}}});
    }
    // With a certificate for queue a, to which all that are stopped belong.
    std::vector<std::string> found_certified() {
        plan.certificates = {{.owner = "a",
                              .action = "queueBalance",
                              .cost = {{"pods", static_cast<std::int64_t>(plan.evictions.size())}}}};
        sort_plan(plan);
        return found_as_is();
    }

private:
    void add_queue(const std::string& name, std::int64_t allocated) {
        queue(name, [&](Queue& made) {
            made.request = amounts({{"cpu", 100'000}});
            made.allocated = amounts({{"cpu", allocated}});
        });
    }
};

TEST(AuditBalance, AcceptsWhatTheRulesGive) {
    BalanceWorld world(3);
    world.stop("p1");
    world.say("a", 2000, 0, 3000, 2000);
    world.say("b", 1000, 1000, 0, 0);
    EXPECT_THAT(world.found_certified(), IsEmpty());
    world.plan.certificates.clear();
    EXPECT_THAT(world.found_as_is(), ElementsAre("certificate a"));
}

TEST(AuditBalance, FindsOneStoppedTooMany) {
    BalanceWorld world(3);
    world.stop("p1");
    world.stop("p2");
    EXPECT_THAT(world.found_certified(), ElementsAre("needless default/p1", "needless default/p2"));
}

TEST(AuditBalance, ExactlyItsShareIsNotTooMuch) {
    BalanceWorld world(2);
    world.stop("p1");
    EXPECT_THAT(world.found_certified(), ElementsAre("needless default/p1"));
}

TEST(AuditBalance, WhatWasGrantedCountsToo) {
    BalanceWorld world(1);
    world.change_queue([&](Queue& queue) { queue.allocated = world.amounts({{"cpu", 999}}); });
    world.stop("p1", "preprocess");
    EXPECT_THAT(world.found_certified(), IsEmpty());
}

TEST(AuditBalance, FindsWhoWentBeforeTheirTurn) {
    BalanceWorld world(3);
    world.stop("p3");  // the oldest
    EXPECT_THAT(world.found_certified(), ElementsAre("queue-order default/p3"));
}

TEST(AuditBalance, RankDecidesTheTurn) {
    BalanceWorld world(2);
    world.running_pod("ranked", 9, [](Pod& pod) { pod.make_extras().preemption_rank = -1; });
    world.stop("ranked");
    EXPECT_THAT(world.found_certified(), IsEmpty());
}

TEST(AuditBalance, AProtectedPodHasNoTurn) {
    BalanceWorld world(2);
    world.running_pod("marked", 0, [](Pod& pod) { pod.make_extras().preemptible = false; });
    world.stop("p1");
    EXPECT_THAT(world.found_certified(), IsEmpty());
    world.plan.evictions.clear();
    world.stop("marked");
    EXPECT_THAT(world.found_certified(), ElementsAre("protected default/marked"));
}

TEST(AuditBalance, FindsPodsOfNoQueueAndUnknownStages) {
    BalanceWorld world(3);
    world.pod("loner", {.node = "n1"});
    world.stop("loner", "later");
    EXPECT_THAT(world.found_certified(), Contains("queue-balance default/loner"));
    world.plan.evictions.clear();
    world.config.actions->push_back({.kind = ActionKind::kPreempt});
    world.pod("high", {.priority = 5, .queue = "a"});
    world.place("high", "n1", true);
    world.evict("p1", "n1", "high").stage = "preempt";
    EXPECT_THAT(world.found(), Contains("queue-balance default/p1"));
}

TEST(AuditBalance, FindsNumbersThatDoNotAddUp) {
    BalanceWorld world(3);
    world.stop("p1");
    world.say("a", 2000, 0, 3000, 2000);
    world.say("b", 2000, 0, 0, 0);  // one CPU is still held
    EXPECT_THAT(world.found_certified(), ElementsAre("queue-status queues"));
    world.plan.queues.pop_back();
    world.say("b", 500, 1000, 0, 0);
    EXPECT_THAT(world.found_certified(), ElementsAre("queue-status b"));
}

TEST(AuditBalance, FindsUseThatIsNoFact) {
    BalanceWorld world(1);
    world.say("a", 2000, 0, 0, 1000);
    world.say("b", 2000, 0, 0, 0);
    EXPECT_THAT(world.found_certified(), ElementsAre("queue-status a"));
}

TEST(AuditBalance, AQueueThatIsNotReclaimableGivesNothing) {
    BalanceWorld world(3);
    world.change_queue([](Queue& queue) { queue.reclaimable = false; });
    world.stop("p1");
    EXPECT_THAT(world.found_certified(), ElementsAre("queue-balance default/p1"));
}

TEST(AuditBalance, WhoWouldReturnBeyondTheGrantIsNotNeedless) {
    BalanceWorld world(3);
    world.config.actions->push_back({.kind = ActionKind::kGangReclaim});
    world.pod("new", {.queue = "b"});
    world.place("new", "n1", true);
    world.evict("p1", "n1", "new", "gangReclaim");
    EXPECT_THAT(world.found(), ElementsAre("needless default/p1")) << "there is room for both";
    world.say("a", 2000, 0, 3000, 2000);
    world.say("b", 1000, 1000, 0, 0);
    EXPECT_THAT(world.found(), IsEmpty());
}

TEST(AuditBalance, PlacementsStayWithinTheGrant) {
    BalanceWorld world(2);
    world.config.actions->push_back({.kind = ActionKind::kAllocate});
    world.pod("more", {.queue = "a"});
    world.place("more", "n1");
    world.say("a", 2000, 0, 2000, 2000);
    world.say("b", 2000, 0, 0, 0);
    EXPECT_THAT(world.found(), ElementsAre("queue-grant default/more"));
}

TEST(AuditBalance, AGangThatIsStoppedGoesWhole) {
    BalanceWorld world(1);
    world.gang("g", 2);
    for (const char* name : {"g1", "g2"})
        world.running_pod(name, 0, [&](Pod& pod) { pod.group = world.id("g"); });
    world.stop("g1").unit = UnitKind::kWhole;
    EXPECT_THAT(world.found_certified(), ElementsAre("broken-gang default/g"));
    world.stop("g2").unit = UnitKind::kWhole;
    EXPECT_THAT(world.found_certified(), IsEmpty());
}

}  // namespace
}  // namespace reprieve
