// One bad object hurts its owner alone: what is decided in a cluster where some objects cannot be read, contradict each
// other or ask for what is not done here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/told_world.h"

namespace reprieve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

class BadObjects : public testing::Test {
protected:
    // What the first plan says of each pod that waits: "node", or "waits: reason".
    std::map<std::string, std::string> decide(LoopOptions options = {}) {
        options.cycles = 1;
        loop_ = std::make_unique<ControlLoop>(cluster_, source_, sink_, record_, options);
        loop_->run();
        return last_plan();
    }
    std::map<std::string, std::string> last_plan() {
        std::map<std::string, std::string> out;
        if (record_.plans.empty()) return out;
        for (const Placement& p : record_.plans.back().placements)
            out[p.pod] = p.node + (p.after_evictions ? " later" : "");
        for (const Unplaced& u : record_.plans.back().unplaced)
            out[u.pod] = "waits: " + u.reason;
        return out;
    }
    std::vector<std::string> evicted() {
        std::vector<std::string> out;
        for (const Eviction& e : record_.plans.back().evictions)
            out.push_back(e.pod);
        return out;
    }
    void tell(const std::string& json) { source_.tell(json); }

    Cluster cluster_{ClusterOptions{.scheduler_names = {"reprieve"}, .topology_levels = {}}};
    ToldSource source_{cluster_.words()};
    KeepingSink sink_;
    LoopRecord record_;
    std::unique_ptr<ControlLoop> loop_;
};

TEST_F(BadObjects, queues_that_are_their_own_parents_are_left_out_and_their_pods_wait) {
    const auto queue = [](const std::string& name, const std::string& parent) {
        return told_object("scheduling.volcano.sh/v1beta1",
                           "Queue",
                           R"("name":")" + name + "\"",
                           R"("weight":1,"parent":")" + parent + "\"");
    };
    tell(told_node("n1"));
    tell(queue("a", "b"));
    tell(queue("b", "a"));
    tell(queue("below", "a"));
    tell(queue("good", "root"));
    tell(told_pod({.name = "in-a", .notes = R"("scheduling.volcano.sh/queue-name":"a")"}));
    tell(told_pod({.name = "in-below", .notes = R"("scheduling.volcano.sh/queue-name":"below")"}));
    tell(told_pod({.name = "in-good", .notes = R"("scheduling.volcano.sh/queue-name":"good")"}));
    tell(told_pod({.name = "plain"}));
    EXPECT_THAT(
        decide(),
        UnorderedElementsAre(Pair("default/in-a", "waits: queue a is left out: its parents form a circle"),
                             Pair("default/in-below", "waits: queue below is left out: its parents form a circle"),
                             Pair("default/in-good", "n1"),
                             Pair("default/plain", "n1")));
    EXPECT_THAT(cluster_.warnings(), testing::Contains(HasSubstr("Queue a: its parents form a circle")));
}

TEST_F(BadObjects, composite_groups_that_are_their_own_parents_are_left_out_and_their_pods_wait) {
    const auto composite = [](const std::string& name, const std::string& parent) {
        return told_object("scheduling.k8s.io/v1alpha3",
                           "CompositePodGroup",
                           R"("namespace":"default","name":")" + name + "\"",
                           R"("parentCompositePodGroupName":")" + parent + R"(","schedulingPolicy":{"basic":{}})");
    };
    tell(told_node("n1"));
    tell(composite("a", "b"));
    tell(composite("b", "a"));
    tell(told_object("scheduling.k8s.io/v1alpha3",
                     "PodGroup",
                     R"("namespace":"default","name":"g")",
                     R"("parentCompositePodGroupName":"a","schedulingPolicy":{"gang":{"minCount":1}})"));
    tell(told_pod({.name = "member", .spec = R"(,"schedulingGroup":{"podGroupName":"g"})"}));
    tell(told_pod({.name = "plain"}));
    EXPECT_THAT(
        decide(),
        UnorderedElementsAre(Pair("default/member", "waits: the composite groups above PodGroup g form a circle"),
                             Pair("default/plain", "n1")));
}

TEST_F(BadObjects, a_hyper_node_whose_pattern_does_not_compile_is_left_out) {
    tell(told_node("n1"));
    tell(told_object("topology.volcano.sh/v1alpha1",
                     "HyperNode",
                     R"("name":"rack")",
                     R"("tier":1,"members":[{"type":"Node","selector":{"regexMatch":{"pattern":"n["}}}])"));
    tell(told_pod({.name = "plain"}));
    EXPECT_THAT(decide(), UnorderedElementsAre(Pair("default/plain", "n1")));
}

TEST_F(BadObjects, a_bound_pod_with_a_malformed_annotation_keeps_its_room_and_is_no_victim) {
    tell(told_node("n1"));
    tell(told_pod({.name = "bad", .cpu = 3, .node = "n1", .notes = R"("reprieve.dev/min-runtime":"soon")"}));
    tell(told_pod({.name = "high", .priority = 100, .cpu = 3}));
    EXPECT_THAT(decide(), ElementsAre(Pair("default/high", HasSubstr("waits: "))));
    EXPECT_THAT(evicted(), IsEmpty());
}

TEST_F(BadObjects, a_pending_pod_with_a_malformed_field_waits_and_is_told_which) {
    tell(told_node("n1"));
    tell(told_pod({.name = "bad", .notes = R"("reprieve.dev/min-runtime":"soon")"}));
    tell(told_pod({.name = "good"}));
    EXPECT_THAT(
        decide(),
        UnorderedElementsAre(Pair("default/bad", HasSubstr("waits: metadata.annotations[reprieve.dev/min-runtime]: ")),
                             Pair("default/good", "n1")));
}

TEST_F(BadObjects, a_budget_that_cannot_be_read_allows_nothing) {
    tell(told_node("n1"));
    tell(told_pod({.name = "low", .cpu = 4, .node = "n1", .labels = R"("app":"db")"}));
    tell(told_object("policy/v1",
                     "PodDisruptionBudget",
                     R"("namespace":"default","name":"db")",
                     R"("maxUnavailable":"many","selector":{"matchExpressions":[{"key":"app","operator":"Is"}]})"));
    tell(told_pod({.name = "high", .priority = 100, .cpu = 4}));
    decide();
    ASSERT_EQ(record_.plans.back().evictions.size(), 1U);
    EXPECT_TRUE(record_.plans.back().evictions[0].pdb_violation);
}

TEST_F(BadObjects, a_pod_with_devices_by_claim_or_a_claim_that_is_missing_waits) {
    tell(told_node("n1"));
    tell(told_pod({.name = "dra", .spec = R"(,"resourceClaims":[{"name":"gpu","resourceClaimName":"gpu"}])"}));
    tell(told_pod({.name = "lost", .spec = R"(,"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"no"}}])"}));
    tell(told_pod({.name = "plain"}));
    EXPECT_THAT(decide(),
                UnorderedElementsAre(Pair("default/dra", HasSubstr("claim default/gpu does not exist")),
                                     Pair("default/lost", HasSubstr("persistentvolumeclaim not found")),
                                     Pair("default/plain", "n1")));
}

TEST_F(BadObjects, a_pod_whose_device_claim_is_missing_waits_also_when_it_comes_later) {
    tell(told_node("n1"));
    decide();
    tell(told_pod({.name = "dra", .spec = R"(,"resourceClaims":[{"name":"gpu","resourceClaimName":"gpu"}])"}));
    EXPECT_THAT(decide(), Contains(Pair("default/dra", HasSubstr("claim default/gpu does not exist"))));
}

TEST_F(BadObjects, members_of_a_group_that_cannot_be_read_wait) {
    tell(told_node("n1"));
    tell(told_object(
        "scheduling.volcano.sh/v1beta1", "PodGroup", R"("namespace":"default","name":"g")", R"("minMember":"two")"));
    tell(told_pod({.name = "member", .notes = R"("scheduling.k8s.io/group-name":"g")"}));
    tell(told_pod({.name = "plain"}));
    EXPECT_THAT(decide(),
                UnorderedElementsAre(Pair("default/member", HasSubstr("waits: PodGroup g: spec.minMember: ")),
                                     Pair("default/plain", "n1")));
}

TEST_F(BadObjects, a_plan_that_breaks_a_rule_costs_the_demand_that_broke_it) {
    tell(told_node("n1"));
    tell(told_pod({.name = "suspect"}));
    tell(told_pod({.name = "good"}));
    LoopOptions options;
    options.judge = [](const Cluster&, const Plan& plan, const SchedulerConfig&) {
        std::vector<Violation> out;
        for (const Placement& p : plan.placements) {
            if (p.pod == "default/suspect") out.push_back({.rule = "capacity", .object = p.pod, .what = "is too much"});
        }
        return out;
    };
    EXPECT_THAT(decide(options),
                UnorderedElementsAre(Pair("default/good", "n1"),
                                     Pair("default/suspect", HasSubstr("broke a rule and was not carried out"))));
    EXPECT_EQ(sink_.plans.size(), 1U);
    EXPECT_EQ(loop_->counts().audit_failures, 1);
}

class BlameTest : public BadObjects, public testing::WithParamInterface<const char*> {};

TEST_P(BlameTest, who_hits_a_gang_or_a_budget_is_to_blame_for_it) {
    tell(told_node("n1"));
    tell(told_node("n2", 2));
    tell(told_object(
        "scheduling.volcano.sh/v1beta1", "PodGroup", R"("name":"team","namespace":"default")", R"("minMember":1)"));
    tell(R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"few","namespace":"default"},)"
         R"("spec":{"selector":{"matchLabels":{"app":"web"}},"minAvailable":1},"status":{"disruptionsAllowed":1}})");
    tell(told_pod({.name = "low",
                   .priority = 5,
                   .cpu = 4,
                   .node = "n1",
                   .notes = R"("scheduling.k8s.io/group-name":"team")",
                   .labels = R"("app":"web")"}));
    tell(told_pod({.name = "plain", .cpu = 2, .node = "n2"}));
    tell(told_pod({.name = "high", .priority = 9, .cpu = 4}));
    tell(told_pod({.name = "other", .priority = 8, .cpu = 2}));
    LoopOptions options;
    options.judge = [](const Cluster&, const Plan& plan, const SchedulerConfig&) {
        std::vector<Violation> out;
        for (const Eviction& e : plan.evictions) {
            if (e.pod == "default/low") out.push_back({.rule = "rule", .object = GetParam(), .what = "is broken"});
        }
        return out;
    };
    EXPECT_THAT(decide(options),
                UnorderedElementsAre(Pair("default/high", HasSubstr("broke a rule and was not carried out")),
                                     Pair("default/other", "n2 later")));
}

INSTANTIATE_TEST_SUITE_P(All, BlameTest, testing::Values("default/team", "default/few"));

TEST_F(BadObjects, where_nobody_is_to_blame_what_fits_without_evictions_is_bound) {
    tell(told_node("n1"));
    tell(told_node("n2", 1));
    tell(told_pod({.name = "low", .cpu = 4, .node = "n1"}));
    tell(told_pod({.name = "high", .priority = 9, .cpu = 4}));
    tell(told_pod({.name = "small"}));
    LoopOptions options;
    options.judge = [](const Cluster&, const Plan& plan, const SchedulerConfig&) {
        std::vector<Violation> out;
        if (!plan.evictions.empty()) out.push_back({.rule = "form", .object = "evictions", .what = "is not sorted"});
        return out;
    };
    EXPECT_THAT(decide(options),
                UnorderedElementsAre(Pair("default/high", HasSubstr("waits: ")), Pair("default/small", "n2")));
}

}  // namespace
}  // namespace reprieve
