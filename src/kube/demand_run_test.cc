#include "kube/demand_run.h"

#include <gtest/gtest.h>

namespace reprieve {
namespace {

Placement waiting(const char* pod, const char* node, const char* owner = "") {
    return {.pod = pod, .node = node, .after_evictions = true, .owner = owner};
}

Eviction victim(const char* pod, const char* node, const char* owner, EvictionMode mode = EvictionMode::kDelete) {
    return {.pod = pod, .node = node, .uid = std::string("uid-") + pod, .owner = owner, .mode = mode};
}

TEST(DemandRun, PlansAreTakenApartByWhomTheyServe) {
    Plan plan;
    plan.placements = {waiting("ns/a", "n1"),
                       waiting("ns/g-0", "n2", "ns/g"),
                       waiting("ns/g-1", "n3", "ns/g"),
                       {.pod = "ns/now", .node = "n4"}};
    plan.evictions = {victim("ns/v1", "n1", "ns/a"),
                      victim("ns/v2", "n2", "ns/g"),
                      victim("ns/s", "n9", "ns/serve", EvictionMode::kScaleDown)};
    const auto demands = demands_of(plan);
    ASSERT_EQ(demands.size(), 2U);
    EXPECT_EQ(demands.at("ns/a").waiting.size(), 1U);
    EXPECT_EQ(demands.at("ns/a").evictions.size(), 1U);
    EXPECT_EQ(demands.at("ns/g").waiting.size(), 2U);
    EXPECT_EQ(demands.at("ns/g").evictions.size(), 1U);
}

TEST(DemandRun, EveryVictimIsNamedOnce) {
    Plan plan;
    plan.placements = {waiting("ns/g-0", "n1", "ns/g"), waiting("ns/g-1", "n2", "ns/g")};
    plan.evictions = {
        victim("b", "n1", "ns/g"), victim("a", "n1", "ns/g"), victim("c", "n2", "ns/g"), victim("far", "n7", "ns/g")};
    const auto demands = demands_of(plan);
    const std::vector<PlanRecord> records = records_of(demands.at("ns/g"), "id", {5});
    ASSERT_EQ(records.size(), 2U);
    EXPECT_EQ(records[0].victims, (std::vector<std::string>{"uid-a", "uid-b", "uid-far"}));
    EXPECT_EQ(records[1].victims, (std::vector<std::string>{"uid-c"}));
    EXPECT_EQ(records[0].node, "n1");
    EXPECT_EQ(records[0].deadline, Time{5});
}

TEST(DemandRun, EvictionsThatServeNobodyHaveNoRecord) {
    Plan plan;
    plan.evictions = {victim("a", "n1", "")};
    const auto demands = demands_of(plan);
    EXPECT_TRUE(records_of(demands.at(""), "id", {}).empty());
}

}  // namespace
}  // namespace reprieve
