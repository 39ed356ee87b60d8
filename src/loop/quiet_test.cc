// Cost follows the change: what changes nothing that decisions depend on wakes nobody, and nothing makes the state be
// built anew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/told_world.h"

namespace reprieve {
namespace {

class Quiet : public testing::Test {
protected:
    Quiet() : loop_(cluster_, source_, sink_, record_, {}) {
        source_.tell(told_node("n1"));
        source_.tell(told_pod({.name = "large", .cpu = 9}));
        turn();
    }
    // Takes in what was told; how many cycles that led to.
    std::int64_t turn() {
        const std::int64_t before = record_.cycles;
        static_cast<void>(loop_.turn());
        return record_.cycles - before;
    }
    static std::string workload(const std::string& kind, const std::string& status) {
        return R"({"apiVersion":")" + std::string(kind == "Job" ? "batch/v1" : "apps/v1") + R"(","kind":")" + kind +
               R"(","metadata":{"name":"w","namespace":"default"},"spec":{"template":{}},"status":{)" + status + "}}";
    }

    Cluster cluster_{ClusterOptions{.scheduler_names = {"reprieve"}, .topology_levels = {}}};
    ToldSource source_{cluster_.words()};
    KeepingSink sink_;
    LoopRecord record_;
    ControlLoop loop_;
};

TEST_F(Quiet, workloads_that_serve_nobody_wake_nobody) {
    for (const char* kind : {"Deployment", "ReplicaSet", "StatefulSet", "Job"}) {
        source_.tell(workload(kind, ""));
        source_.tell(workload(kind, R"("replicas":3)"));
        EXPECT_EQ(turn(), 0) << kind;
    }
    EXPECT_EQ(cluster_.rebuilds(), 1);
}

TEST_F(Quiet, what_is_told_again_wakes_nobody) {
    const std::string budget = told_object("policy/v1",
                                           "PodDisruptionBudget",
                                           R"("namespace":"default","name":"b")",
                                           R"("maxUnavailable":1,"selector":{"matchLabels":{"app":"a"}})");
    const std::string claim = told_object(
        "v1", "PersistentVolumeClaim", R"("namespace":"default","name":"c")", R"("accessModes":["ReadWriteOnce"])");
    const std::string group = told_object(
        "scheduling.volcano.sh/v1beta1", "PodGroup", R"("namespace":"default","name":"g")", R"("minMember":2)");
    for (const std::string& object : {budget, claim, group, told_node("n1")})
        source_.tell(object);
    turn();
    for (const std::string& object : {budget, claim, group, told_node("n1")}) {
        source_.tell(object);
        EXPECT_EQ(turn(), 0) << object;
    }
    EXPECT_EQ(cluster_.rebuilds(), 1);
}

TEST_F(Quiet, labels_of_namespaces_matter_only_where_a_rule_selects_by_them) {
    const auto labelled = [](const std::string& team) {
        return R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default","labels":{"team":")" + team +
               R"("}}})";
    };
    source_.tell(labelled("a"));
    EXPECT_EQ(turn(), 0);
    source_.tell(told_pod(
        {.name = "picky",
         .spec = R"(,"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[)"
                 R"({"labelSelector":{},"namespaceSelector":{"matchLabels":{"team":"b"}},"topologyKey":"zone"}]}})"}));
    EXPECT_EQ(turn(), 1);
    source_.tell(labelled("b"));
    EXPECT_EQ(turn(), 1);
    EXPECT_EQ(cluster_.rebuilds(), 1);
}

TEST_F(Quiet, two_updates_of_a_node_between_two_cycles_count_once) {
    source_.tell(told_node("n1", 20));
    source_.tell(told_node("n1", 10));
    turn();
    EXPECT_EQ(cluster_.snapshot().now.free(cluster_.find_node(cluster_.words().string("n1")), kCpu), 1000);
}

TEST_F(Quiet, a_group_that_changes_is_applied_wholly) {
    source_.tell(told_object("scheduling.volcano.sh/v1beta1", "Queue", R"("name":"q")", R"("weight":1)"));
    source_.tell(told_pod({.name = "m", .notes = R"("scheduling.k8s.io/group-name":"g")"}));
    source_.tell(told_object(
        "scheduling.volcano.sh/v1beta1", "PodGroup", R"("namespace":"default","name":"g")", R"("minMember":2)"));
    turn();
    source_.tell(told_object("scheduling.volcano.sh/v1beta1",
                             "PodGroup",
                             R"("namespace":"default","name":"g")",
                             R"("minMember":1,"queue":"q")"));
    turn();
    const Snapshot& s = cluster_.snapshot();
    const PodId pod = cluster_.find_pod(cluster_.words().string("default"), "m");
    ASSERT_TRUE(s.pods[pod].gang.valid());
    EXPECT_EQ(s.gangs[s.pods[pod].gang].min, 1);
    EXPECT_EQ(s.words->text(s.queues[s.pods[pod].queue].name), "q");
    EXPECT_EQ(cluster_.rebuilds(), 1);
}

TEST_F(Quiet, words_of_objects_that_are_gone_are_forgotten) {
    const auto churn = [&](int round) {
        for (int i = 0; i < 200; ++i) {
            const std::string name = "p" + std::to_string(round) + "-" + std::to_string(i);
            source_.tell(told_pod({.name = name, .node = "n1", .labels = R"("job":")" + name + "\""}));
        }
        turn();
        for (int i = 0; i < 200; ++i)
            source_.tell_gone("p" + std::to_string(round) + "-" + std::to_string(i));
        turn();
        static_cast<void>(cluster_.refresh(kLoopStart));
        cluster_.sweep();
        return cluster_.words().word_count();
    };
    const std::size_t few = churn(0);
    for (int round = 1; round < 5; ++round)
        EXPECT_EQ(churn(round), few);
    EXPECT_LT(cluster_.snapshot().classes.size(), 400U);
}

}  // namespace
}  // namespace reprieve
