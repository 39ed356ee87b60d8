#include "explain/alternatives.h"

#include <gmock/gmock.h>

#include "explain/stability.h"
#include "explain/test_cluster.h"

namespace reprieve {
namespace {

using testing::HasSubstr;

const Alternative& find(const Alternatives& all, const std::string& name) {
    const auto at = std::ranges::find(all.plans, name, &Alternative::name);
    REPRIEVE_CHECK(at != all.plans.end(), "{}", name);
    return *at;
}

std::string victims(const Alternative& a) {
    std::string out;
    for (const Eviction& e : a.plan.evictions)
        out += (out.empty() ? "" : " ") + e.pod;
    return out;
}

// n1: two small ones of low priority; n2: a big one of higher priority that leaves at once and has just saved its work.
std::string world_of_choices() {
    const auto slow = ", terminationGracePeriodSeconds: 600";
    const auto quick = ", terminationGracePeriodSeconds: 5";
    return test_node("n1", 2) + test_node("n2", 2) +
           test_pod({.name = "small-a", .node = "n1", .priority = 1, .spec = slow}) +
           test_pod({.name = "small-b", .node = "n1", .priority = 1, .spec = slow}) +
           test_pod({.name = "big",
                     .node = "n2",
                     .cpu = 2,
                     .priority = 9,
                     .annotations = "reprieve.dev/last-checkpoint: \"2026-01-01T11:59:00Z\"",
                     .spec = quick}) +
           test_pod({.name = "new", .node = "", .cpu = 2, .priority = 100});
}

TEST(Alternatives, EachHasItsAim) {
    TestCluster world(world_of_choices());
    const Alternatives all = find_alternatives(world.cluster, world.config, world.plan);
    EXPECT_EQ(all.plans.front().name, "cheapest");
    EXPECT_EQ(all.plans.front().plan, world.plan);
    EXPECT_EQ(victims(find(all, "cheapest")), "default/small-a default/small-b");
    EXPECT_EQ(find(all, "cheapest").highest_priority, 1);
    EXPECT_EQ(find(all, "cheapest").seconds_until_free, 600);
    EXPECT_EQ(find(all, "cheapest").jobs_broken, 2);
    EXPECT_EQ(victims(find(all, "fewestJobs")), "default/big");
    EXPECT_EQ(find(all, "fewestJobs").jobs_broken, 1);
    EXPECT_EQ(victims(find(all, "leastWorkLost")), "default/big");
    EXPECT_EQ(find(all, "leastWorkLost").lost_work, 120);
    EXPECT_EQ(victims(find(all, "soonestFree")), "default/big");
    EXPECT_EQ(find(all, "soonestFree").seconds_until_free, 5);
}

TEST(Alternatives, NoBudgetBroken) {
    const std::string budget =
        "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b, namespace: default}\n"
        "spec: {minAvailable: 1, selector: {matchLabels: {app: x}}}\nstatus: {disruptionsAllowed: 0}\n";
    TestCluster world(test_node("n1", 1) + budget +
                      test_pod({.name = "x", .node = "n1", .priority = 1, .metadata = ", labels: {app: x}"}) +
                      test_pod({.name = "new", .node = "", .priority = 100}));
    const Alternatives all = find_alternatives(world.cluster, world.config, world.plan);
    EXPECT_EQ(find(all, "cheapest").pdb_violations, 1);
    EXPECT_EQ(find(all, "pdbClean").pdb_violations, 0);
    EXPECT_EQ(find(all, "pdbClean").unplaced, 1);
}

TEST(Alternatives, TheDocumentHoldsThePlanUnchanged) {
    TestCluster world(world_of_choices());
    const std::string json = alternatives_to_json(find_alternatives(world.cluster, world.config, world.plan));
    EXPECT_THAT(json, HasSubstr("\"kind\": \"PlanAlternatives\""));
    EXPECT_THAT(json, HasSubstr("\"kind\": \"Plan\""));
    EXPECT_THAT(json, HasSubstr("\"secondsUntilFree\": 5"));
}

TEST(Stability, AnOrdinaryPlanIsStable) {
    TestCluster world(world_of_choices());
    const StabilityReport report = check_stability(world.cluster, world.config);
    EXPECT_TRUE(report.stable());
    EXPECT_TRUE(report.at_rest);
    EXPECT_GT(report.evictions, 0);
    EXPECT_EQ(run_cycle(world.cluster, world.config), world.plan);
}

TEST(Stability, FewerCyclesThanItTakesAreNotEnough) {
    TestCluster world(world_of_choices());
    const StabilityReport report = check_stability(world.cluster, world.config, {.cycles = 1, .watch = {}});
    EXPECT_FALSE(report.at_rest);
    ASSERT_EQ(report.violations.size(), 1U);
    EXPECT_THAT(report.violations[0], HasSubstr("after 1 cycles"));
}

}  // namespace
}  // namespace reprieve
