#include "explain/set_exemption.h"

#include <gmock/gmock.h>

#include "explain/test_cluster.h"

namespace reprieve {
namespace {

std::string share_of(const std::string& name, int cpu) {
    return "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: " + name +
           "}\nspec: {deserved: {cpu: " + std::to_string(cpu) + "}}\n";
}

ExplainTestPod in_queue(const std::string& queue, const std::string& name, const std::string& node) {
    return {.name = name, .node = node, .annotations = "scheduling.volcano.sh/queue-name: " + queue};
}

TEST(SetExemption, AQueueWithinItsShareKeepsItsPods) {
    TestCluster world(test_node("n1", 3) + share_of("a", 1) + share_of("b", 1) + share_of("c", 1) +
                      test_pod(in_queue("a", "a0", "n1")) + test_pod(in_queue("a", "a1", "n1")) +
                      test_pod(in_queue("b", "b0", "n1")) + test_pod(in_queue("c", "w", "")));
    const Explanation e = world.explain_all("b0");
    ASSERT_EQ(e.spared.size(), 1U);
    EXPECT_EQ(e.spared[0].rule, "queue");
    EXPECT_EQ(e.spared[0].why, "queue b comes to 1 of cpu and deserves 1");
}

TEST(SetExemption, WhomTheNewcomerNeedsStays) {
    const std::string near =
        ", affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: "
        "{matchLabels: {app: cache}}, topologyKey: kubernetes.io/hostname}]}}";
    TestCluster world(
        "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {kubernetes.io/hostname: n1}}\nstatus: "
        "{allocatable: {cpu: \"2\", pods: \"9\"}}\n" +
        test_pod({.name = "cache", .node = "n1", .priority = 0, .metadata = ", labels: {app: cache}"}) +
        test_pod({.name = "batch", .node = "n1", .priority = 5}) +
        test_pod({.name = "web", .node = "", .priority = 50, .spec = near}));
    const Explanation e = world.explain_all("cache");
    ASSERT_EQ(e.spared.size(), 1U);
    EXPECT_EQ(e.spared[0].rule, "affinity");
    EXPECT_EQ(e.spared[0].why, "the required pod affinity of default/web asks for it there");
}

TEST(SetExemption, AStrictBudgetLetsNobodyGo) {
    const std::string budget =
        "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: pd, namespace: default}\n"
        "spec: {maxUnavailable: 0, selector: {matchLabels: {app: v}}}\n";
    TestCluster world(test_node("n1", 2) + budget +
                          test_pod({.name = "kept", .node = "n1", .priority = 0, .metadata = ", labels: {app: v}"}) +
                          test_pod({.name = "goes", .node = "n1", .priority = 5}) +
                          test_pod({.name = "new", .node = "", .priority = 50}),
                      "actions: [{name: allocate}, {name: preempt, args: {pdb: strict}}]");
    const Explanation e = world.explain_all("kept");
    ASSERT_EQ(e.spared.size(), 1U);
    EXPECT_EQ(e.spared[0].rule, "budget");
}

}  // namespace
}  // namespace reprieve
