#include "loop/intents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reprieve {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Time kNow{1'767'268'800'250'000};
constexpr Duration kPatience{60'000'000};

Placement waits(const char* pod, const char* node, const char* owner = "") {
    return {.pod = pod, .node = node, .uid = std::string("uid-") + pod, .after_evictions = true, .owner = owner};
}

Eviction goes(const char* name, const char* node, const char* owner) {
    return {.pod = std::string("ns/") + name, .node = node, .uid = name, .owner = owner};
}

class IntentsTest : public testing::Test {
protected:
    std::vector<Intent> record(Plan plan) {
        plan.now = kNow;
        record_intents(plan, cluster_, kPatience);
        return plan.intents;
    }
    Cluster cluster_{{}};
};

TEST_F(IntentsTest, each_member_names_the_victims_on_its_own_node) {
    Plan plan;
    plan.placements = {waits("ns/g-0", "n1", "ns/g"), waits("ns/g-1", "n2", "ns/g")};
    plan.evictions = {goes("b", "n1", "ns/g"), goes("a", "n1", "ns/g"), goes("c", "n2", "ns/g")};
    const std::vector<Intent> intents = record(plan);
    ASSERT_EQ(intents.size(), 2U);
    EXPECT_THAT(intents[0].victims, ElementsAre("a", "b"));
    EXPECT_THAT(intents[1].victims, ElementsAre("c"));
    EXPECT_EQ(intents[1].node, "n2");
    EXPECT_EQ(intents[1].uid, "uid-ns/g-1");
}

TEST_F(IntentsTest, victims_where_nobody_waits_are_named_once) {
    Plan plan;
    plan.placements = {waits("ns/g-0", "n1", "ns/g"), waits("ns/g-1", "n2", "ns/g")};
    plan.evictions = {goes("far", "n9", "ns/g"), goes("near", "n2", "ns/g")};
    const std::vector<Intent> intents = record(plan);
    ASSERT_EQ(intents.size(), 2U);
    EXPECT_THAT(intents[0].victims, ElementsAre("far"));
    EXPECT_THAT(intents[1].victims, ElementsAre("near"));
}

TEST_F(IntentsTest, what_costs_nobody_anything_is_not_recorded) {
    Plan plan;
    plan.placements = {
        {.pod = "ns/now", .node = "n1"}, waits("ns/in-flight", "n2"), waits("ns/pays", "n3"), waits("ns/z", "n4")};
    plan.evictions = {goes("a", "n3", "ns/pays"), goes("b", "n9", "ns/nobody")};
    const std::vector<Intent> intents = record(plan);
    ASSERT_EQ(intents.size(), 1U);
    EXPECT_EQ(intents[0].pod, "ns/pays");
    EXPECT_THAT(record(Plan{}), IsEmpty());
}

TEST_F(IntentsTest, the_deadline_is_a_whole_second) {
    Plan plan;
    plan.placements = {waits("ns/a", "n1")};
    plan.evictions = {goes("v", "n1", "ns/a")};
    EXPECT_EQ(record(plan)[0].deadline.us, kNow.us - 250'000 + kPatience.us);
}

}  // namespace
}  // namespace reprieve
