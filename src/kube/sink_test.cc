#include "kube/sink.h"

#include "kube/sink_case.h"

namespace reprieve {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class SinkTest : public SinkCase {
protected:
    static Plan binding() {
        Plan plan{.id = "sha256:2", .now = kNow};
        plan.placements = {{.pod = "ns/high", .node = "n1", .uid = "uid-high", .action = "allocate"}};
        return plan;
    }
};

TEST_F(SinkTest, IntentThenAllMarksThenDeletes) {
    start();
    EXPECT_EQ(carry_out(preemption()).size(), 5U);
    const std::vector<std::string> made = calls();
    ASSERT_EQ(made.size(), 5U);
    EXPECT_EQ(made[0], "PATCH /high/status");
    EXPECT_THAT(std::vector(made.begin() + 1, made.begin() + 3),
                UnorderedElementsAre("PATCH /a/status", "PATCH /b/status"));
    EXPECT_THAT(std::vector(made.begin() + 3, made.end()), UnorderedElementsAre("DELETE /a", "DELETE /b"));
    EXPECT_THAT(body_of("PATCH", "/high/status"), HasSubstr(R"(\"victims\":[\"uid-a\",\"uid-b\"])"));
    EXPECT_THAT(body_of("PATCH", "/a/status"), HasSubstr("PreemptionByScheduler"));
    EXPECT_THAT(body_of("DELETE", "/a"), HasSubstr(R"("preconditions":{"uid":"uid-a"})"));
    EXPECT_EQ(body_of("DELETE", "/a").find("gracePeriodSeconds"), std::string::npos) << "its own grace";
}

// Somebody leaves anyway: nothing is paid for, so nothing has to be on record before.
TEST_F(SinkTest, ANominationThatEvictsNobodyIsWrittenOnceItHasLasted) {
    start();
    Plan plan = preemption();
    plan.evictions.clear();
    plan.intents.clear();
    carry_out(plan);
    while (calls().empty())
        std::this_thread::yield();
    settle();
    EXPECT_THAT(calls(), ElementsAre("PATCH /high/status"));
    carry_out(plan);
    EXPECT_EQ(calls().size(), 1U) << "it is written";
}

TEST_F(SinkTest, WhoIsBoundBeforeItLastsCostsOneCall) {
    nominate_after_ = Duration::of_seconds(3600);
    start();
    Plan plan = preemption();
    plan.evictions.clear();
    plan.intents.clear();
    carry_out(plan);
    carry_out(binding());
    EXPECT_THAT(calls(), ElementsAre("POST /high/binding"));
}

TEST_F(SinkTest, ANominationThatIsNoLongerTrueIsReplacedAtOnce) {
    nominate_after_ = Duration::of_seconds(3600);
    start();
    carry_out(preemption());
    const std::size_t before = calls().size();
    Plan plan = preemption();
    plan.evictions.clear();
    plan.intents.clear();
    plan.placements[0].node = "n2";
    carry_out(plan);
    EXPECT_EQ(calls().size(), before + 1);
    EXPECT_THAT(calls().back(), "PATCH /high/status");
}

TEST_F(SinkTest, TheSamePlanAgainMakesNoCalls) {
    start();
    carry_out(preemption());
    const std::size_t calls_before = calls().size();
    EXPECT_THAT(carry_out(preemption()), IsEmpty());
    Plan in_flight = preemption();
    in_flight.evictions.clear();
    EXPECT_THAT(carry_out(in_flight), IsEmpty()) << "what is in flight is listed again and again, and left as recorded";
    EXPECT_EQ(calls().size(), calls_before);
}

TEST_F(SinkTest, ARestartedSchedulerRepeatsNothingThatItCanSee) {
    start();
    see(pod_json(
        "high",
        "1",
        "",
        R"("nominatedNodeName":"n1")",
        R"("annotations":{"reprieve.dev/plan":"{\"id\":\"old\",\"node\":\"n1\",\"victims\":[\"uid-a\",\"uid-b\"],\"deadline\":\"2026-01-01T12:00:00Z\"}"})"));
    see(pod_json("a",
                 "1",
                 R"("nodeName":"n1")",
                 R"("conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"}])"));
    see(pod_json("b",
                 "1",
                 R"("nodeName":"n1")",
                 "",
                 R"("deletionTimestamp":"2026-01-01T12:00:00Z","deletionGracePeriodSeconds":30)"));
    carry_out(preemption());
    EXPECT_THAT(calls(), ElementsAre("DELETE /a"));
}

TEST_F(SinkTest, NobodyIsEvictedWhenTheIntentCannotBeRecorded) {
    start([](const Asked& asked) {
        return asked.path.ends_with("/high/status") ? Reply{.status = 404, .body = status_json(404, "NotFound", "gone")}
                                                    : Reply{};
    });
    EXPECT_THAT(carry_out(preemption()),
                UnorderedElementsAre("nominate ns/high: 404 NotFound: gone",
                                     "evict ns/a: not evicted: a step before failed for ns/high",
                                     "evict ns/b: not evicted: a step before failed for ns/high"));
    EXPECT_THAT(calls(), ElementsAre("PATCH /high/status"));
    EXPECT_GT(failures_, 0);
}

TEST_F(SinkTest, NobodyIsEvictedWhenAMarkFails) {
    start([](const Asked& asked) {
        return asked.path.ends_with("/b/status") ? Reply{.status = 403, .body = status_json(403, "Forbidden", "no")}
                                                 : Reply{};
    });
    carry_out(preemption());
    EXPECT_THAT(calls(), Not(Contains(HasSubstr("DELETE"))));
}

TEST_F(SinkTest, NobodyIsEvictedForAPreemptorThatIsGoneByThen) {
    start([&known = known_](const Asked& asked) {
        if (asked.path.ends_with("/b/status")) known.see_gone("ns/high");
        return Reply{};
    });
    EXPECT_THAT(carry_out(preemption()),
                UnorderedElementsAre("nominate ns/high",
                                     "mark ns/a",
                                     "mark ns/b",
                                     "evict ns/a: not evicted: ns/high does not wait for it any more",
                                     "evict ns/b: not evicted: ns/high does not wait for it any more"));
    EXPECT_THAT(calls(), Not(Contains(HasSubstr("DELETE"))));
    carry_out({.id = "next", .now = kNow});
    EXPECT_EQ(std::ranges::count(calls(), "PATCH /a/status"), 2) << "the mark is taken back";
    EXPECT_EQ(std::ranges::count(calls(), "PATCH /b/status"), 2);
}

TEST_F(SinkTest, AnEvictionThatIsTriedAgainIsForSomebodyWhoStillWaits) {
    start([this](const Asked& asked) {
        if (!asked.path.ends_with("/pods/a")) return Reply{};
        if (asked.method == "GET") return Reply{.body = pod_json("a", "1")};
        see(pod_json("high", "2000", R"("nodeName":"n7")"));
        return Reply{.status = 503, .body = status_json(503, "ServiceUnavailable", "busy")};
    });
    see(pod_json("high", "1", "", ""));
    Plan plan = preemption();
    plan.evictions.pop_back();
    carry_out(plan);  // whether the first attempt was carried out is asked of the pod itself
    EXPECT_EQ(std::ranges::count(calls(), "DELETE /a"), 1);
}

TEST_F(SinkTest, TheDeadlineCountsFromWhenTheIntentIsWritten) {
    start();
    carry_out(preemption());  // of January
    EXPECT_THAT(body_of("PATCH", "/high/status"), HasSubstr(R"(\"deadline\")"));
    EXPECT_THAT(body_of("PATCH", "/high/status"), Not(HasSubstr(R"(\"deadline\":\"2026-01-01)")));
}

TEST_F(SinkTest, AVictimThatIsGoneAlreadyIsNoFailure) {
    start([](const Asked& asked) {
        if (asked.path.ends_with("/a/status") || asked.path.ends_with("/a"))
            return Reply{.status = 404, .body = status_json(404, "NotFound", "gone")};
        if (asked.is("DELETE", "/api/v1/namespaces/ns/pods/b"))
            return Reply{.status = 409,
                         .body = status_json(409, "Conflict", "the UID in the precondition (x) does not match")};
        return Reply{};
    });
    EXPECT_THAT(carry_out(preemption()),
                UnorderedElementsAre("nominate ns/high", "mark ns/a", "mark ns/b", "evict ns/a", "evict ns/b"));
    EXPECT_EQ(failures_, 0);
    // The watch says that they are gone only once, and may have said so before these writes.
    EXPECT_TRUE(known_.find("ns/a").uid.empty());
    EXPECT_TRUE(known_.find("ns/b").uid.empty());
}

TEST_F(SinkTest, APodThatIsGoneWhenItIsBoundIsForgotten) {
    start([](const Asked& asked) {
        return asked.path.ends_with("/binding") ? Reply{.status = 404, .body = status_json(404, "NotFound", "gone")}
                                                : Reply{};
    });
    Plan plan;
    plan.now = kNow;
    plan.placements = {{.pod = "ns/p", .node = "n1", .uid = "u-p"}};
    EXPECT_THAT(carry_out(plan), ElementsAre("bind ns/p: 404 NotFound: gone"));
    EXPECT_EQ(known_.size(), 0U);
}

TEST_F(SinkTest, NothingLeavesWhoeverMayNotAct) {
    start();
    may_act_ = false;
    EXPECT_THAT(carry_out(preemption()), Contains("nominate ns/high: not sent: it is not to be done any more"));
    EXPECT_THAT(calls(), IsEmpty());
    may_act_ = true;
    carry_out(preemption());
    EXPECT_EQ(calls().size(), 5U) << "what was not sent is not believed to be done";
}

TEST_F(SinkTest, BindsAndTakesTheNoteAway) {
    start();
    see(pod_json(
        "high",
        "1",
        "",
        R"("nominatedNodeName":"n1")",
        R"("annotations":{"reprieve.dev/plan":"{\"id\":\"old\",\"node\":\"n1\",\"victims\":[],\"deadline\":\"2026-01-01T12:00:00Z\"}"})"));
    Plan plan = binding();
    plan.placements[0].devices = {"0", "1"};
    EXPECT_THAT(carry_out(plan), ElementsAre("bind ns/high"));
    EXPECT_THAT(calls(), ElementsAre("POST /high/binding", "PATCH /high"));
    EXPECT_THAT(body_of("POST", "/binding"), HasSubstr(R"("reprieve.dev/devices":"0,1")"));
    EXPECT_THAT(body_of("PATCH", "/high"), HasSubstr(R"("reprieve.dev/plan":null)"));
    EXPECT_THAT(body_of("POST", "/events"), HasSubstr("Successfully assigned ns/high to n1"));
    EXPECT_THAT(carry_out(plan), IsEmpty()) << "bound already";
}

std::string bound_with_plan(const std::string& name) {
    return pod_json(
        name,
        "1",
        R"("nodeName":"n1")",
        "",
        R"("annotations":{"reprieve.dev/plan":"{\"id\":\"x\",\"node\":\"n1\",\"victims\":[],\"deadline\":\"2026-01-01T12:00:00Z\"}"})");
}

TEST_F(SinkTest, APlanOnABoundPodIsRemovedWhoeverLeftItThere) {
    start([&asked_for = counter_](const Asked&) {
        return ++asked_for == 1 ? Reply{.status = 403, .body = status_json(403, "Forbidden", "not yet")}
                                : Reply{.body = pod_json("old", "900")};
    });
    see(bound_with_plan("old"));
    carry_out({.id = "y", .now = kNow});
    // It is tried again after a refusal, without being asked.
    ASSERT_TRUE(api_->wait([](const auto& asked) { return asked.size() == 2; }));
    settle();
    EXPECT_THAT(body_of("PATCH", "/old"), HasSubstr(R"("reprieve.dev/plan":null)"));
    carry_out({.id = "z", .now = kNow});
    EXPECT_EQ(calls().size(), 2U) << "and then no more";
}

TEST_F(SinkTest, APlanThatIsSeenOnABoundPodAfterTheLastPlanIsRemoved) {
    start([](const Asked&) { return Reply{.body = pod_json("old", "900")}; });
    carry_out({.id = "last", .now = kNow});
    see(bound_with_plan("old"));
    ASSERT_TRUE(api_->wait([](const auto& asked) { return asked.size() == 1; }));
    settle();
    EXPECT_THAT(body_of("PATCH", "/old"), HasSubstr(R"("reprieve.dev/plan":null)"));
}

TEST_F(SinkTest, AMarkOfAPlanThatIsNoMoreIsTakenBack) {
    start();
    const std::string marked =
        R"("conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"}])";
    see(pod_json("a", "1", R"("nodeName":"n1")", marked));
    see(pod_json("other", "1", R"("nodeName":"n1")", marked));
    const std::string plan =
        R"("annotations":{"reprieve.dev/plan":"{\"id\":\"x\",\"node\":\"n1\",\"victims\":[\"uid-a\"],\"deadline\":\"2026-01-01T12:00:00Z\"}"})";
    see(pod_json("high", "1", "", R"("nominatedNodeName":"n1")", plan));
    carry_out({.id = "y", .now = kNow});
    EXPECT_THAT(calls(), IsEmpty()) << "the plan goes on";
    Plan dropped{.id = "z", .now = kNow};
    dropped.nominations_cleared = {"ns/high"};
    carry_out(dropped);
    EXPECT_THAT(calls(), UnorderedElementsAre("PATCH /high/status", "PATCH /a/status")) << "and nobody else's mark";
    EXPECT_THAT(body_of("PATCH", "/a/status"), HasSubstr(R"("$patch":"delete")"));
    carry_out(dropped);
    EXPECT_EQ(calls().size(), 2U);
}

TEST_F(SinkTest, AMarkWhosePlanDiedWithItsPreemptorIsTakenBack) {
    start();
    const auto marked = [](const std::string& message) {
        return R"("conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler","message":")" +
               message + R"("}])";
    };
    see(pod_json("a", "1", R"("nodeName":"n1")", marked("reprieve: preempted for ns/gone (preempt)")));
    see(pod_json("other", "1", R"("nodeName":"n1")", marked("default-scheduler: preempting to accommodate")));
    carry_out({.id = "y", .now = kNow});
    EXPECT_THAT(calls(), ElementsAre("PATCH /a/status")) << "and nobody else's mark";
    EXPECT_THAT(body_of("PATCH", "/a/status"), HasSubstr(R"("$patch":"delete")"));
}

TEST_F(SinkTest, APodThatIsBoundAlthoughItsBindingWasRefusedIsNoFailure) {
    start([&counter = counter_](const Asked& asked) {
        if (!asked.path.ends_with("/high") && !asked.path.ends_with("/binding")) return Reply{};
        return refuse_after_trouble(++counter, pod_json("high", "5", R"("nodeName":"n1")"));
    });
    EXPECT_THAT(carry_out(binding()), ElementsAre("bind ns/high"));
}

TEST_F(SinkTest, AConflictOnBindIsReadBack) {
    start([](const Asked& asked) {
        if (asked.method == "POST" && asked.path.ends_with("/binding"))
            return Reply{.status = 409, .body = status_json(409, "Conflict", "already assigned")};
        return Reply{.body = pod_json("high", "5", R"("nodeName":"n1")")};
    });
    EXPECT_THAT(carry_out(binding()), ElementsAre("bind ns/high")) << "our own earlier call got through";
}

// The API server was restarted: the answer got lost, and for a while nobody may do anything.
TEST_F(SinkTest, AnUncertainBindingIsLookedAtUntilSomebodyKnows) {
    std::atomic<int> posts{0};
    std::atomic<int> looks{0};
    start([&](const Asked& asked) {
        const Reply refused{.status = 403, .body = R"({"kind":"Status","reason":"Forbidden","message":"not yet"})"};
        if (asked.method == "POST" && asked.path.ends_with("/binding"))
            return ++posts == 1 ? Reply{.status = 500, .body = "{}"} : posts == 2 ? refused : Reply{};
        if (asked.method == "GET")
            return ++looks < 4 ? refused : Reply{.body = R"({"metadata":{"uid":"uid-high"},"spec":{}})"};
        return Reply{};
    });
    EXPECT_THAT(carry_out(binding()), ElementsAre("bind ns/high"));
    EXPECT_EQ(looks, 4);
    EXPECT_EQ(posts, 3) << "it is still free: bound after all";
}

TEST_F(SinkTest, AConflictWithSomebodyElsesBindingIsAFailure) {
    start([](const Asked& asked) {
        if (asked.method == "POST" && asked.path.ends_with("/binding"))
            return Reply{.status = 409, .body = status_json(409, "Conflict", "already assigned")};
        return Reply{.body = pod_json("high", "5", R"("nodeName":"n2")")};
    });
    EXPECT_THAT(carry_out(binding()), ElementsAre("bind ns/high: 409 Conflict: already assigned"));
}

TEST_F(SinkTest, AConflictAboutAPodThatIsStillFreeIsTriedAgain) {
    start([&posts = counter_](const Asked& asked) {
        if (asked.method == "POST" && asked.path.ends_with("/binding"))
            return ++posts < 3 ? Reply{.status = 409, .body = status_json(409, "Conflict", "changed")}
                               : Reply{.status = 201};
        return Reply{.body = pod_json("high", "5")};
    });
    EXPECT_THAT(carry_out(binding()), ElementsAre("bind ns/high"));
    EXPECT_EQ(counter_, 3);
}

TEST_F(SinkTest, ABudgetThatRefusesTakesTheMarkBack) {
    start([](const Asked& asked) {
        if (asked.path.ends_with("/eviction"))
            return Reply{
                .status = 429,
                .body =
                    R"({"kind":"Status","reason":"TooManyRequests","message":"budget","code":429,"details":{"causes":[{"reason":"DisruptionBudget"}]}})"};
        return Reply{};
    });
    Plan plan = preemption();
    plan.evictions.resize(1);
    plan.evictions[0].mode = EvictionMode::kEvict;
    EXPECT_THAT(
        carry_out(plan),
        UnorderedElementsAre("nominate ns/high", "mark ns/a", "evict ns/a: 429 TooManyRequests: budget", "mark ns/a"));
    EXPECT_THAT(calls(), ElementsAre("PATCH /high/status", "PATCH /a/status", "POST /a/eviction", "PATCH /a/status"));
    EXPECT_THAT(api_->asked().back().body, HasSubstr(R"("$patch":"delete")"));
}

TEST_F(SinkTest, SoftEvictionIsOnePatchAndNoDelete) {
    start();
    Plan plan = preemption();
    plan.evictions.resize(1);
    plan.evictions[0].mode = EvictionMode::kSoft;
    EXPECT_THAT(carry_out(plan), UnorderedElementsAre("nominate ns/high", "evict ns/a"));
    EXPECT_THAT(body_of("PATCH", "/a/status"),
                HasSubstr(R"("scheduling.koordinator.sh/soft-eviction":"{\"preemptJob\":\"ns/high\")"));
    EXPECT_THAT(carry_out(plan), IsEmpty());
}

TEST_F(SinkTest, WhoNeedNotGoAnyMoreIsNotMarkedEither) {
    start();
    Plan plan = preemption();
    plan.evictions.resize(1);
    plan.evictions[0].mode = EvictionMode::kSoft;
    carry_out(plan);
    Plan back{.id = "y", .now = kNow};
    back.annotations = {{.pod = "ns/a", .set = {}, .remove = {"scheduling.koordinator.sh/soft-eviction"}}};
    const std::size_t before = api_->asked().size();
    EXPECT_THAT(carry_out(back), ElementsAre("annotate ns/a"));
    ASSERT_EQ(api_->asked().size(), before + 1);
    EXPECT_THAT(api_->asked().back().path, EndsWith("/a/status"));
    EXPECT_THAT(api_->asked().back().body, HasSubstr(R"("scheduling.koordinator.sh/soft-eviction":null)"));
    EXPECT_THAT(api_->asked().back().body, HasSubstr(R"("$patch":"delete")"));
    EXPECT_THAT(carry_out(back), IsEmpty());
}

TEST_F(SinkTest, ClearsNominationsThatAreThere) {
    start();
    see(pod_json("low", "1", "", R"("nominatedNodeName":"n1")"));
    see(pod_json("other", "1"));
    Plan plan{.id = "x", .now = kNow, .nominations_cleared = {"ns/low", "ns/other", "ns/unknown"}};
    EXPECT_THAT(carry_out(plan), ElementsAre("clear ns/low"));
    EXPECT_THAT(carry_out(plan), IsEmpty());
}

TEST_F(SinkTest, SaysWhyAPodIsUnplacedOnce) {
    start();
    see(pod_json("p", "1"));
    Plan plan{.id = "x", .now = kNow};
    plan.unplaced = {
        {.pod = "ns/p", .reason = "0 of 3 nodes fit: 3 Insufficient cpu", .nodes = {{"Insufficient cpu", 3}}}};
    carry_out(plan);
    EXPECT_THAT(calls(), ElementsAre("PATCH /p/status"));
    EXPECT_THAT(body_of("PATCH", "/p/status"), HasSubstr(R"("message":"0 of 3 nodes fit: 3 Insufficient cpu")"));
    EXPECT_THAT(body_of("POST", "/events"), HasSubstr("FailedScheduling"));
    const std::size_t before = api_->asked().size();
    carry_out(plan);
    EXPECT_EQ(api_->asked().size(), before);
}

// A plan that balanced queue q, with `granted` milli-CPUs of the 3 it deserves, and only looked at queue r.
Plan balanced(std::int64_t granted) {
    Plan plan{.id = "sha256:3", .now = kNow};
    plan.queues = {{.name = "q",
                    .shares = {{"deserved", {{"cpu", 3000}, {"memory", 1024}}},
                               {"allocated", {{"cpu", granted}, {"memory", 1024}}},
                               {"used", {{"cpu", 0}, {"memory", 0}}},
                               {"usedLive", {{"cpu", 0}, {"memory", 0}}},
                               {"preempting", {{"cpu", 3000 - granted}, {"memory", 0}}}}},
                   {.name = "r", .shares = {{"used", {{"cpu", 5000}}}}}};
    return plan;
}

constexpr const char* kQueuePath = "/apis/scheduling.volcano.sh/v1beta1/queues/q";

class QueueStatusTest : public SinkTest {
protected:
    void see_queues() {
        for (const char* name : {"q", "r"}) {
            const std::string json =
                std::string(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":")") +
                name + R"("},"spec":{"weight":1}})";
            Decoder decoder(words_);
            auto decoded = decoder.decode(json);
            ASSERT_TRUE(decoded && *decoded);
            addresses_.see(**decoded, words_, "scheduling.volcano.sh/v1beta1", json);
        }
    }
};

TEST_F(QueueStatusTest, WhatWasGrantedIsWrittenOnTheQueueThatWasBalanced) {
    start();
    see_queues();
    EXPECT_THAT(carry_out(balanced(1000)), ElementsAre("status q"));
    EXPECT_THAT(calls(), ElementsAre(std::string("PATCH ") + kQueuePath));
    const std::string body = body_of("PATCH", "/queues/q");
    EXPECT_THAT(body, HasSubstr(R"("reprieve.dev/allocated":"{\"cpu\":\"1000m\",\"memory\":\"1024\"}")"));
    EXPECT_THAT(body,
                HasSubstr(R"("reprieve.dev/queue-status":"{\"deserved\":{\"cpu\":\"3000m\",\"memory\":\"1024\"},)"
                          R"(\"allocated\":{\"cpu\":\"1000m\",\"memory\":\"1024\"},)"
                          R"(\"used\":{\"cpu\":\"0m\",\"memory\":\"0\"},)"
                          R"(\"preempting\":{\"cpu\":\"2000m\",\"memory\":\"0\"}}")"));
}

TEST_F(QueueStatusTest, AGrantIsAlsoAQuotaOfItsNamespaceWhereThatIsWanted) {
    resource_quotas_ = true;
    start();
    see_queues();
    EXPECT_THAT(carry_out(balanced(1000)), ElementsAre("status q", "status q"));
    EXPECT_EQ(body_of("PATCH", "/api/v1/namespaces/q/resourcequotas/reprieve"),
              R"({"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"reprieve","namespace":"q"},)"
              R"("spec":{"hard":{"requests.cpu":"1000m","requests.memory":"1024"}}})");
    EXPECT_THAT(carry_out(balanced(1000)), IsEmpty());
}

TEST_F(QueueStatusTest, AQueueWithoutANamespaceIsToldOnce) {
    resource_quotas_ = true;
    start([](const Asked& asked) {
        const bool missing = asked.path.find("/resourcequotas/") != std::string::npos;
        return missing ? Reply{.status = 404, .body = status_json(404, "NotFound", "no namespace q")} : Reply{};
    });
    see_queues();
    EXPECT_THAT(carry_out(balanced(1000)), UnorderedElementsAre("status q", HasSubstr("status q: 404")));
    EXPECT_THAT(carry_out(balanced(1000)), IsEmpty());
}

TEST_F(QueueStatusTest, OnlyAChangeIsWrittenAgain) {
    start();
    see_queues();
    EXPECT_THAT(carry_out(balanced(1000)), ElementsAre("status q"));
    EXPECT_THAT(carry_out(balanced(1000)), IsEmpty());
    EXPECT_THAT(carry_out(balanced(2000)), ElementsAre("status q"));
    EXPECT_EQ(api_->count("PATCH", kQueuePath), 2U);
}

TEST_F(QueueStatusTest, AQueueThatIsMadeAgainIsToldAgain) {
    start();
    see_queues();
    EXPECT_THAT(carry_out(balanced(1000)), ElementsAre("status q"));
    carry_out({.id = "without", .now = kNow});
    EXPECT_THAT(carry_out(balanced(1000)), ElementsAre("status q"));
}

TEST_F(QueueStatusTest, AStatusThatWasRefusedIsWrittenWithTheNextPlan) {
    start([this](const Asked& asked) {
        const bool refuse = asked.path == kQueuePath && counter_++ == 0;
        return refuse ? Reply{.status = 403, .body = status_json(403, "Forbidden", "no")} : Reply{};
    });
    see_queues();
    EXPECT_THAT(carry_out(balanced(1000)), ElementsAre(HasSubstr("status q: 403")));
    EXPECT_THAT(carry_out(balanced(1000)), ElementsAre("status q"));
}

TEST_F(SinkTest, ForceDeletesOnceWithGraceOneAndThenForGood) {
    start();
    Plan plan{.id = "x", .now = kNow, .force_deletes = {"ns/t"}};
    see(pod_json("t",
                 "1",
                 R"("nodeName":"n1")",
                 "",
                 R"("deletionTimestamp":"2026-01-01T11:59:00Z","deletionGracePeriodSeconds":300)"));
    EXPECT_THAT(carry_out(plan), ElementsAre("force ns/t"));
    EXPECT_THAT(body_of("DELETE", "/t"), HasSubstr(R"("gracePeriodSeconds":1,"preconditions":{"uid":"uid-t"})"));
    see(pod_json("t",
                 "2",
                 R"("nodeName":"n1")",
                 "",
                 R"("deletionTimestamp":"2026-01-01T12:00:01Z","deletionGracePeriodSeconds":1)"));
    EXPECT_THAT(carry_out(plan), IsEmpty());
    plan.now = plan.now + Duration{40'000'000};
    EXPECT_THAT(carry_out(plan), ElementsAre("force ns/t"));
    EXPECT_THAT(api_->asked().back().body, HasSubstr(R"("gracePeriodSeconds":0)"));
}

}  // namespace
}  // namespace reprieve
