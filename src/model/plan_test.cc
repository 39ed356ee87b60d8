#include "model/plan.h"

#include <gtest/gtest.h>

#include "model/config.h"
#include "model/pod.h"

namespace reprieve {
namespace {

TEST(Plan, SortsEachArrayByItsFirstKeys) {
    Plan plan;
    for (const char* pod : {"b/x", "a/x"})
        plan.placements.emplace_back().pod = pod;
    for (const char* pod : {"ns/p2", "ns/p1"})
        plan.evictions.emplace_back().pod = pod;
    plan.nominations_cleared = {"z", "a"};
    plan.scale = {{"d", "w2", 3, 2, {"q", "p"}}, {"d", "w1", 1, 0, {}}, {"c", "w9", 0, 1, {}}};
    plan.force_deletes = {"y", "x"};
    plan.annotations = {{"p2", {}, {"k2", "k1"}}, {"p1", {}, {}}};
    for (const char* owner : {"z", "a"})
        plan.matches.emplace_back().owner = owner;
    for (const char* name : {"q2", "q1"})
        plan.queues.emplace_back().name = name;
    plan.unplaced = {
        {"m/pod", "", 0, false, "", {}}, {"", "a/deploy", 2, false, "", {}}, {"a/pod", "z/gang", 0, false, "", {}}};
    for (const auto& [owner, action] :
         {std::pair("x", "preempt"), std::pair("x", "gangPreempt"), std::pair("a", "revoke")}) {
        Certificate& certificate = plan.certificates.emplace_back();
        certificate.owner = owner;
        certificate.action = action;
    }
    plan.warnings = {"two", "one"};
    sort_plan(plan);

    EXPECT_EQ(plan.placements[0].pod, "a/x");
    EXPECT_EQ(plan.evictions[0].pod, "ns/p1");
    EXPECT_EQ(plan.nominations_cleared, (std::vector<std::string>{"a", "z"}));
    EXPECT_EQ(plan.scale[0].deployment, "c");
    EXPECT_EQ(plan.scale[1].plane, "w1");
    EXPECT_EQ(plan.scale[2].hints, (std::vector<std::string>{"p", "q"}));
    EXPECT_EQ(plan.force_deletes[0], "x");
    EXPECT_EQ(plan.annotations[0].pod, "p1");
    EXPECT_EQ(plan.annotations[1].remove, (std::vector<std::string>{"k1", "k2"}));
    EXPECT_EQ(plan.matches[0].owner, "z");
    EXPECT_EQ(plan.queues[0].name, "q1");
    EXPECT_EQ(plan.unplaced[0].owner, "a/deploy");
    EXPECT_EQ(plan.unplaced[1].pod, "a/pod");
    EXPECT_EQ(plan.unplaced[2].pod, "m/pod");
    EXPECT_EQ(plan.certificates[0].owner, "a");
    EXPECT_EQ(plan.certificates[1].action, "gangPreempt");
    EXPECT_EQ(plan.warnings[0], "one");
}

TEST(Config, DefaultActionsGoFromLeastToMostDisruptive) {
    std::vector<std::string> names;
    for (const ActionConfig& action : default_actions())
        names.emplace_back(to_text(action.kind));
    EXPECT_EQ(names,
              (std::vector<std::string>{"allocate",
                                        "preempt",
                                        "gangPreempt",
                                        "gangReclaim",
                                        "jobPreempt",
                                        "revoke",
                                        "servingPreempt",
                                        "queueBalance",
                                        "backfill"}));
}

TEST(Pod, CopiesOwnTheirExtras) {
    Pod pod;
    pod.name = "p";
    pod.make_extras().claimed_by = "ns/d";
    Pod copy = pod;
    EXPECT_EQ(copy, pod);
    copy.make_extras().claimed_by = "ns/other";
    EXPECT_EQ(pod.more().claimed_by, "ns/d");
    EXPECT_FALSE(copy == pod);
}

TEST(Pod, ExtrasWithDefaultsEqualNone) {
    Pod plain;
    Pod with;
    with.make_extras();
    EXPECT_EQ(plain, with);
    with.make_extras().preemption_rank = 1;
    EXPECT_FALSE(plain == with);
    with = plain;
    EXPECT_EQ(with.extras, nullptr);
    with.grace_seconds = 1;
    EXPECT_FALSE(plain == with);
}

}  // namespace
}  // namespace reprieve
