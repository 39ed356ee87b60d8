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

TEST(DemandRun, WhatIsRecordedIsWhatThePlanIntends) {
    Plan plan;
    plan.placements = {waiting("ns/g-0", "n1", "ns/g"), waiting("ns/g-1", "n2", "ns/g"), waiting("ns/free", "n3")};
    plan.evictions = {victim("b", "n1", "ns/g")};
    plan.intents = {{.pod = "ns/g-0", .node = "n1", .victims = {"uid-b"}}, {.pod = "ns/g-1", .node = "n2"}};
    const auto demands = demands_of(plan);
    const std::vector<DemandWrites::Waiting>& members = demands.at("ns/g").waiting;
    ASSERT_EQ(members.size(), 2U);
    EXPECT_EQ(members[0].intent, plan.intents.data());
    EXPECT_EQ(members[1].intent, &plan.intents[1]);
    EXPECT_EQ(demands.at("ns/free").waiting[0].intent, nullptr) << "nobody leaves for it";
}

}  // namespace
}  // namespace reprieve
