#include "audit/test_world.h"

namespace reprieve {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// One pod runs, one is evicted for one that waits, one stays unplaced; clean until a test spoils it.
class AuditForm : public testing::Test {
protected:
    void SetUp() override {
        world.node("n1");
        world.pod("low", {.node = "n1", .cpu = 3000});
        world.pod("high", {.cpu = 3000, .priority = 10});
        world.pod("huge", {.cpu = 90000, .priority = 5});
        world.place("high", "n1", true);
        world.evict("low", "n1", "high");
        world.unplaced("huge");
        ASSERT_THAT(world.found(), IsEmpty());
    }
    TestWorld world;
};

TEST_F(AuditForm, EveryWaitingPodIsListedOnce) {
    world.plan.unplaced.clear();
    EXPECT_THAT(world.found(), ElementsAre("form default/huge"));
    world.unplaced("huge");
    world.unplaced("huge");
    EXPECT_THAT(world.found(), ElementsAre("form default/huge"));
    world.plan.unplaced.pop_back();
    world.unplaced("high");
    EXPECT_THAT(world.found(), ElementsAre("form default/high"));
}

TEST_F(AuditForm, GatedFinishedForeignAndServingPodsAreNotListed) {
    ClusterOptions options;
    options.scheduler_names = {"reprieve"};
    TestWorld other(options);
    other.node("n1");
    other.pod("gated", {.edit = [](Pod& pod) { pod.gated = true; }});
    other.pod("done", {.edit = [](Pod& pod) { pod.phase = PodPhase::kSucceeded; }});
    other.pod("foreign", {.spec = [&](PodSpec& spec) { spec.scheduler = other.id("default-scheduler"); }});
    other.serving("s");
    other.pod("replica", {.labels = {{"reprieve.dev/serving", "s"}}});
    EXPECT_THAT(other.found(), IsEmpty());
    for (const char* name : {"gated", "done"})
        other.unplaced(name);
    for (const char* name : {"foreign", "replica"})
        other.place(name, "n1");
    EXPECT_THAT(other.found(),
                ElementsAre("form default/done", "form default/foreign", "form default/gated", "form default/replica"));
}

TEST_F(AuditForm, PlacementsNameThingsThatExist) {
    world.place("nobody", "n1");
    world.plan.placements[0].node = "n9";
    const auto found = world.found();
    EXPECT_THAT(found, testing::IsSupersetOf({"form default/high", "form default/nobody"}));
}

TEST_F(AuditForm, UnplacedPodsExist) {
    world.unplaced("nobody");
    EXPECT_THAT(world.found(), ElementsAre("form default/nobody"));
}

TEST_F(AuditForm, ARunningPodIsNotPlaced) {
    world.place("low", "n1");
    EXPECT_THAT(world.found(), ElementsAre("form default/low"));
}

TEST_F(AuditForm, ReasonsStand) {
    world.plan.evictions[0].reason.clear();
    world.plan.unplaced[0].reason.clear();
    EXPECT_THAT(world.found(), ElementsAre("form default/huge", "form default/low"));
}

TEST_F(AuditForm, ActionsAreConfigured) {
    world.config.actions = std::vector<ActionConfig>(1);
    EXPECT_THAT(world.found(), ElementsAre("form default/low"));
    world.config.actions = std::nullopt;
    world.plan.evictions[0].unit = UnitKind::kReplica;
    EXPECT_THAT(world.found(), testing::Contains("form default/low"));
}

TEST_F(AuditForm, ArraysAreSorted) {
    world.plan.nominations_cleared = {"z", "a"};
    world.plan.warnings = {"two", "one"};
    world.plan.force_deletes = {"y", "x"};
    world.plan.scale = {{"d", "w2", 3, 2, {}}, {"d", "w1", 1, 0, {}}};
    world.plan.annotations = {{"p2", {}, {}}, {"p1", {}, {}}};
    world.plan.queues = {{"q2", {}}, {"q1", {}}};
    world.plan.certificates.push_back({"a", "revoke", CertificateStatus::kHeuristic, {}, {}, {}, ""});
    const auto found = world.found_as_is();
    EXPECT_THAT(found,
                testing::IsSupersetOf({"form annotations",
                                       "form certificates",
                                       "form forceDeletes",
                                       "form nominationsCleared",
                                       "form queues",
                                       "form scale",
                                       "form warnings"}));
    world.plan.placements.insert(world.plan.placements.begin(), world.plan.placements[0]);
    world.plan.placements[0].pod = "x/x";
    world.plan.evictions.insert(world.plan.evictions.begin(), world.plan.evictions[0]);
    world.plan.evictions[0].pod = "x/x";
    world.plan.unplaced.insert(world.plan.unplaced.begin(), world.plan.unplaced[0]);
    world.plan.unplaced[0].pod = "x/x";
    EXPECT_THAT(world.found_as_is(), testing::IsSupersetOf({"form evictions", "form placements", "form unplaced"}));
}

TEST_F(AuditForm, NobodyWaitsForNothing) {
    world.plan.evictions.clear();
    world.config.plugins.disable = {"NodeResourcesFit"};
    EXPECT_THAT(world.found(), ElementsAre("form default/high"));
}

TEST_F(AuditForm, ForNamesTheGangWhereItHasAMinimum) {
    world.gang("g", 1);
    world.pod("member", {.cpu = 1, .group = "g"});
    world.place("member", "n1", false, "g");
    EXPECT_THAT(world.found(), IsEmpty());
    for (Placement& item : world.plan.placements) {
        if (item.pod == "default/member") item.owner.clear();
    }
    EXPECT_THAT(world.found(), ElementsAre("form default/member"));
}

TEST_F(AuditForm, ClearedNominationsAndForcedDeletesMeanSomething) {
    world.plan.nominations_cleared = {"default/huge"};
    world.plan.force_deletes = {"default/low"};
    EXPECT_THAT(world.found(), ElementsAre("form default/huge", "form default/low", "match default/low"));
}

TEST_F(AuditForm, DevicesAreReadable) {
    for (const char* text : {"x", "-1", "0:", "0:much"}) {
        world.plan.placements[0].devices = {text};
        EXPECT_THAT(world.found(), ElementsAre("form default/high")) << text;
    }
    world.plan.placements[0].devices = {"0:4Gi", "1:500m"};
    EXPECT_THAT(world.found(), IsEmpty());
}

TEST_F(AuditForm, UnplacedReplicasNameTheirDeployment) {
    Unplaced item;
    item.owner = "default/serving";
    item.replicas = 2;
    item.reason = "no room";
    world.plan.unplaced.push_back(item);
    EXPECT_THAT(world.found(), IsEmpty());
    world.plan.unplaced.back().replicas = 0;
    EXPECT_THAT(world.found(), ElementsAre("form unplaced"));
}

TEST_F(AuditForm, EveryOwnerThatEvictsHasACertificate) {
    world.plan.certificates[0].cost.clear();
    EXPECT_THAT(world.found_as_is(), ElementsAre("certificate default/high"));
    world.certify();
    world.plan.certificates[0].cost = {{"pods", 2}};
    EXPECT_THAT(world.found_as_is(), ElementsAre("certificate default/high"));
    world.certify();
    world.plan.certificates[0].status = CertificateStatus::kInfeasible;
    EXPECT_THAT(world.found_as_is(), ElementsAre("certificate default/high"));
    world.certify();
    world.plan.certificates[0].status = CertificateStatus::kOptimal;
    world.plan.certificates[0].bound = {{"pods", 0}};
    EXPECT_THAT(world.found_as_is(), ElementsAre("certificate default/high"));
    world.plan.certificates[0].bound = world.plan.certificates[0].cost;
    EXPECT_THAT(world.found_as_is(), IsEmpty());
    world.plan.certificates[0].action = "gangPreempt";
    EXPECT_THAT(world.found_as_is(), ElementsAre("certificate default/high"));
}

TEST_F(AuditForm, APodIsEvictedOnce) {
    world.plan.evictions.push_back(world.plan.evictions[0]);
    EXPECT_THAT(world.found_as_is(), ElementsAre("form default/low"));
}

TEST_F(AuditForm, VictimsRunWhereThePlanSays) {
    world.plan.evictions[0].node = "n2";
    EXPECT_THAT(world.found(), ElementsAre("eviction-target default/low"));
    world.plan.evictions[0].node = "n1";
    world.plan.evictions[0].uid = "uid-of-another";
    EXPECT_THAT(world.found(), ElementsAre("eviction-target default/low"));
    world.plan.evictions[0].uid = "uid-low";
    EXPECT_THAT(world.found(), IsEmpty());
    world.evict("nobody", "n1", "high");
    EXPECT_THAT(world.found(), testing::Contains("eviction-target default/nobody"));
}

// Two nodes of 4 CPU, each full of one pod; whoever waits asks for all of a node.
class AuditClaims : public testing::Test {
protected:
    void SetUp() override {
        world.node("n1");
        world.node("n2");
        world.pod("cheap", {.node = "n1", .cpu = 4000, .priority = 1});
        world.pod("dear", {.node = "n2", .cpu = 4000, .priority = 5});
        world.pod("want", {.cpu = 4000, .priority = 10});
    }
    void refuse() {
        world.unplaced("want");
        world.plan.certificates = {
            {"default/want", "preempt", CertificateStatus::kInfeasible, {}, {}, {}, "nobody may be evicted"}};
    }
    TestWorld world;
};

TEST_F(AuditClaims, InfeasibleIsContradictedByANodeThatCanBeFreed) {
    refuse();
    EXPECT_THAT(world.found_as_is(), ElementsAre("certificate default/want"));
    world.plan.certificates[0].status = CertificateStatus::kHeuristic;
    EXPECT_THAT(world.found_as_is(), IsEmpty());
}

TEST_F(AuditClaims, InfeasibleStandsWhereNobodyElseMayGo) {
    for (const auto& [name, node] : {std::pair("top-1", "n1"), std::pair("top-2", "n2")})
        world.pod(name, {.node = node, .cpu = 1, .priority = 20});
    refuse();
    EXPECT_THAT(world.found_as_is(), IsEmpty());
}

TEST_F(AuditClaims, OptimalIsContradictedByCheaperVictimsElsewhere) {
    world.place("want", "n2", true).action = "preempt";
    world.evict("dear", "n2", "want");
    const CostVector cost{{"pdbViolations", 0}, {"maxPriority", 5}, {"pods", 1}};
    world.plan.certificates = {{"default/want", "preempt", CertificateStatus::kOptimal, cost, cost, {}, ""}};
    EXPECT_THAT(world.found_as_is(), ElementsAre("certificate default/want"));
    world.plan.certificates[0].status = CertificateStatus::kGap;
    EXPECT_THAT(world.found_as_is(), IsEmpty());
}

TEST_F(AuditClaims, OptimalStandsWhereTheOthersAreNotCheaper) {
    world.place("want", "n1", true).action = "preempt";
    world.evict("cheap", "n1", "want");
    const CostVector cost{{"pdbViolations", 0}, {"maxPriority", 1}, {"pods", 1}};
    world.plan.certificates = {{"default/want", "preempt", CertificateStatus::kOptimal, cost, cost, {}, ""}};
    EXPECT_THAT(world.found_as_is(), IsEmpty());
}

}  // namespace
}  // namespace reprieve
