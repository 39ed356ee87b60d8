// Quotas: minimums, who may evict whom, and what is revoked.
#include "audit/test_world.h"
#include "model/soft_eviction.h"

namespace reprieve {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

const std::map<std::string, std::string> kFixed{{"quota.scheduling.koordinator.sh/preemptible", "false"}};

class AuditQuotas : public testing::Test {
protected:
    void quota(const std::string& name, std::int64_t low, std::int64_t high) {
        world.queue(name, [&](Queue& queue) {
            queue.is_quota = true;
            queue.guarantee = world.amounts({{"cpu", low}});
            queue.limit = world.amounts({{"cpu", high}});
        });
    }
    void act(ActionKind kind, const std::function<void(ActionConfig&)>& edit = [](ActionConfig&) {}) {
        order_action(world.config, kind, edit);
    }

    // Quota q has lent what these pods of it use, one core each; the others' claim on one core of it is served.
    void claimed_back(std::initializer_list<std::string> victims) {
        world.node("n1", {.cpu = 1000 * static_cast<std::int64_t>(victims.size())});
        quota("q", 0, 9000);
        quota("others", 1000, 9000);
        for (const std::string& victim : victims)
            world.pod(victim, {.node = "n1", .queue = "q"});
        world.pod("claim", {.queue = "others"});
        world.place("claim", "n1", true);
    }
    void revoke(const std::string& victim) { world.evict(victim, "n1", "", "revoke").owner.clear(); }

    // With a certificate for quota q, which gives back so many pods.
    std::vector<std::string> found_revoked(std::int64_t pods) {
        world.plan.certificates = {{.owner = "q", .action = "revoke", .cost = {{"pods", pods}}}};
        sort_plan(world.plan);
        return world.found_as_is();
    }

    TestWorld world;
};

TEST_F(AuditQuotas, NonPreemptiblePodsStayWithinTheMinimum) {
    world.node("n1", {.cpu = 10000});
    quota("q", 2000, 9000);
    world.pod("runs", {.node = "n1", .queue = "q", .labels = kFixed});
    world.pod("loose", {.node = "n1", .queue = "q"});
    world.pod("fits", {.queue = "q", .labels = kFixed});
    world.pod("over", {.queue = "q", .labels = kFixed});
    world.place("fits", "n1");
    world.unplaced("over");
    EXPECT_THAT(world.found(), IsEmpty());
    world.plan.unplaced.clear();
    world.place("over", "n1");
    EXPECT_THAT(world.found(), ElementsAre("quota-minimum default/fits", "quota-minimum default/over"));
}

TEST_F(AuditQuotas, UnmarkedPodsAreNonPreemptibleWhereThatIsConfigured) {
    world.node("n1", {.cpu = 10000});
    quota("q", 1000, 9000);
    world.pod("runs", {.node = "n1", .queue = "q"});
    world.pod("new", {.queue = "q"});
    world.place("new", "n1");
    EXPECT_THAT(world.found(), IsEmpty());
    act(ActionKind::kJobPreempt, [](ActionConfig& action) { action.disable_default_preemptible = true; });
    EXPECT_THAT(world.found(), ElementsAre("quota-minimum default/new"));
}

TEST_F(AuditQuotas, AnotherQuotaReturnsOnlyWhatItBorrowed) {
    for (const std::int64_t low : {1000, 2000}) {
        TestWorld fresh;
        fresh.node("n1", {.cpu = 2000});
        for (const auto& [name, least] : {std::pair{"a", std::int64_t{1000}}, std::pair{"b", low}}) {
            fresh.queue(name, [&](Queue& queue) {
                queue.is_quota = true;
                queue.guarantee = fresh.amounts({{"cpu", least}});
            });
        }
        fresh.pod("b1", {.node = "n1", .priority = 9, .queue = "b"});
        fresh.pod("b2", {.node = "n1", .priority = 9, .queue = "b"});
        fresh.pod("job", {.queue = "a"});
        fresh.place("job", "n1", true);
        fresh.evict("b1", "n1", "job", "jobPreempt");
        if (low == 1000)
            EXPECT_THAT(fresh.found(), IsEmpty());
        else
            EXPECT_THAT(fresh.found(), ElementsAre("quota default/b1"));
    }
}

TEST_F(AuditQuotas, WhoTakesFromOthersStaysWithinItsOwnMinimum) {
    world.node("n1", {.cpu = 3000});
    quota("a", 1000, 9000);
    quota("b", 0, 9000);
    world.pod("a1", {.node = "n1", .priority = 9, .queue = "a"});
    world.pod("b1", {.node = "n1", .queue = "b"});
    world.pod("b2", {.node = "n1", .queue = "b"});
    world.pod("job", {.priority = 5, .queue = "a"});
    world.place("job", "n1", true);
    world.evict("b1", "n1", "job", "jobPreempt");
    EXPECT_THAT(world.found(), ElementsAre("quota default/job"));
}

TEST_F(AuditQuotas, InItsOwnQuotaAPreemptibleJobGoesByPriority) {
    world.node("n1", {.cpu = 1000});
    quota("q", 1000, 9000);
    world.pod("same", {.node = "n1", .priority = 5, .queue = "q"});
    world.pod("job", {.priority = 5, .queue = "q"});
    world.place("job", "n1", true);
    world.evict("same", "n1", "job", "jobPreempt");
    EXPECT_THAT(world.found(), ElementsAre("priority default/same"));
}

TEST_F(AuditQuotas, TheLabelOfTheJobDecidesWhetherItMayPreempt) {
    for (const bool may : {true, false}) {
        TestWorld fresh;
        fresh.node("n1", {.cpu = 1000});
        fresh.pod("victim", {.node = "n1"});
        fresh.pod("job", {.priority = 5, .edit = [&](Pod& pod) { pod.make_extras().can_preempt = may; }});
        fresh.place("job", "n1", true);
        fresh.evict("victim", "n1", "job", "jobPreempt");
        if (may)
            EXPECT_THAT(fresh.found(), IsEmpty());
        else
            EXPECT_THAT(fresh.found(), ElementsAre("quota default/victim"));
    }
}

TEST_F(AuditQuotas, NothingIsRevokedBeforeItsTime) {
    claimed_back({"victim"});
    revoke("victim");
    act(ActionKind::kRevoke, [](ActionConfig& action) { action.delay_evict_time = Duration{0}; });
    EXPECT_THAT(found_revoked(1), IsEmpty());
    act(ActionKind::kRevoke);
    EXPECT_THAT(found_revoked(1), ElementsAre("quota default/victim"));
}

TEST_F(AuditQuotas, OnlyWhatIsAboveTheRuntimeIsRevoked) {
    claimed_back({"v1", "v2"});
    act(ActionKind::kRevoke, [](ActionConfig& action) { action.delay_evict_time = Duration{0}; });
    revoke("v1");
    EXPECT_THAT(found_revoked(1), IsEmpty());
    revoke("v2");
    EXPECT_THAT(found_revoked(2), ElementsAre("quota default/v1", "quota default/v2"));
}

TEST_F(AuditQuotas, WhatIsRevokedIsCertified) {
    claimed_back({"victim"});
    revoke("victim");
    act(ActionKind::kRevoke, [](ActionConfig& action) { action.delay_evict_time = Duration{0}; });
    EXPECT_THAT(world.found(), ElementsAre("certificate q"));
}

TEST_F(AuditQuotas, RuntimesAreThoseOfTheRule) {
    world.node("n1", {.cpu = 10000});
    for (const char* name : {"a", "b", "c"})
        quota(name, 0, 10000);
    for (const char* name : {"a", "b", "c"})
        world.pod(std::string("of-") + name, {.cpu = 9000, .queue = name});
    const auto told = [&](std::int64_t of_a) {
        world.plan.queues = {{.name = "a", .shares = {{"runtime", {{"cpu", of_a}}}}},
                             {.name = "b", .shares = {{"runtime", {{"cpu", 3333}}}}},
                             {.name = "c", .shares = {{"runtime", {{"cpu", 3333}}}}}};
        return world.found();
    };
    for (const char* name : {"of-a", "of-b", "of-c"})
        world.unplaced(name);
    EXPECT_THAT(told(3334), IsEmpty());
    EXPECT_THAT(told(3333), ElementsAre("quota a"));
}

TEST_F(AuditQuotas, ARuntimeThatLimitsIsNotExceeded) {
    world.node("n1", {.cpu = 2000});
    quota("q", 0, 9000);
    quota("others", 1000, 9000);
    world.pod("claim", {.queue = "others"});
    world.pod("a", {.queue = "q"});
    world.pod("b", {.queue = "q"});
    world.place("a", "n1");
    world.place("b", "n1");
    world.unplaced("claim");
    EXPECT_THAT(world.found(), IsEmpty());
    world.config.plugins.quota.limit = QuotaLimit::kRuntime;
    EXPECT_THAT(world.found(), ElementsAre("queue-limit default/a", "queue-limit default/b"));
}

TEST_F(AuditQuotas, WhoIsAskedToGoIsSpokenFreeOnlyIfNobodyWaits) {
    world.node("n1", {.cpu = 1000});
    const auto asked = [](Pod& pod) {
        pod.make_extras().soft_eviction = R"({"preemptJob":"default/job","initiator":"reprieve"})";
    };
    world.pod("victim", {.node = "n1", .edit = asked});
    world.plan.annotations = {{.pod = "default/victim", .set = {}, .remove = {SoftEviction::kAnnotation}}};
    EXPECT_THAT(world.found(), IsEmpty());
    world.pod("job", {.priority = 5});
    world.place("job", "n1", true);
    EXPECT_THAT(world.found(), ElementsAre("soft-eviction default/victim"));
}

TEST_F(AuditQuotas, WhoWasAskedToGoIsNoVictimAgain) {
    world.node("n1", {.cpu = 1000});
    const auto asked = [](Pod& pod) { pod.make_extras().soft_eviction = R"({"preemptJob":"default/job"})"; };
    world.pod("victim", {.node = "n1", .edit = asked});
    world.pod("job", {.priority = 5});
    world.place("job", "n1", true);
    EXPECT_THAT(world.found(), IsEmpty());
    world.evict("victim", "n1", "job", "jobPreempt");
    EXPECT_THAT(world.found(), Contains("eviction-target default/victim"));
    act(ActionKind::kJobPreempt, [](ActionConfig& action) { action.soft_eviction_deadline = Duration{1}; });
    EXPECT_THAT(world.found(), IsEmpty());
}

}  // namespace
}  // namespace reprieve
