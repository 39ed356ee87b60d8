// Replicas of serving deployments in the embedded cluster: who is deleted first, and who binds the new ones.
#include <algorithm>
#include <set>

#include "sim/deletion_order.h"
#include "sim/test_world.h"

namespace reprieve {
namespace {

using testing::ElementsAre;

class ServingSimTest : public SimTest {
protected:
    // In the order in which a ReplicaSet would delete them.
    std::vector<std::string> order() {
        std::vector<SlotId> slots = store().of_kind("Pod");
        std::ranges::sort(slots, DeletionOrder(store(), slots));
        std::vector<std::string> out;
        for (SlotId slot : slots)
            out.push_back(store().at(slot).key.name);
        return out;
    }
};

std::string replica_yaml(const std::string& name,
                         const std::string& node,
                         const std::string& ready_at,
                         const std::string& metadata = "",
                         const std::string& status = "") {
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", uid: " + name +
           ", creationTimestamp: '2026-03-02T01:00:00Z'" + (metadata.empty() ? "" : ", " + metadata) +
           "}\nspec: {nodeName: '" + node +
           "', containers: [{name: c}]}\nstatus: {phase: Running, conditions: [{type: Ready, status: 'True', "
           "lastTransitionTime: '" +
           ready_at + "'}]" + (status.empty() ? "" : ", " + status) + "}\n";
}

TEST_F(ServingSimTest, WithoutANodeThenNotRunningThenNotReadyGoFirst) {
    start(node_yaml("n1") + node_yaml("n2") + node_yaml("n3") + replica_yaml("ready", "n1", "2026-03-02T08:00:00Z") +
          "---\napiVersion: v1\nkind: Pod\nmetadata: {name: unready}\nspec: {nodeName: n2, containers: [{name: c}]}\n"
          "status: {phase: Running}\n"
          "---\napiVersion: v1\nkind: Pod\nmetadata: {name: starting}\nspec: {nodeName: n3, containers: [{name: c}]}\n"
          "---\napiVersion: v1\nkind: Pod\nmetadata: {name: unbound}\nspec: {containers: [{name: c}]}\n");
    EXPECT_THAT(order(), ElementsAre("unbound", "starting", "unready", "ready"));
}

TEST_F(ServingSimTest, ThenTheCheaperThenTheDoubledUp) {
    start(node_yaml("n1") + node_yaml("n2") + replica_yaml("alone", "n1", "2026-03-02T08:59:59Z") +
          replica_yaml("paired-a", "n2", "2026-03-02T01:00:00Z") +
          replica_yaml("paired-b", "n2", "2026-03-02T08:59:00Z") +
          replica_yaml("hinted",
                       "n2",
                       "2026-03-02T02:00:00Z",
                       "annotations: {controller.kubernetes.io/pod-deletion-cost: '-1000'}"));
    EXPECT_THAT(order(), ElementsAre("hinted", "paired-b", "paired-a", "alone"));
}

TEST_F(ServingSimTest, AgesAreComparedByPowersOfTwo) {
    // Ready for 80 and 140 minutes is all the same: the UID decides.
    start(node_yaml("n1") + node_yaml("n2") + node_yaml("n3") + replica_yaml("b-newer", "n1", "2026-03-02T07:40:00Z") +
          replica_yaml("a-older", "n2", "2026-03-02T06:40:00Z") +
          replica_yaml("c-newest", "n3", "2026-03-02T08:59:00Z"));
    EXPECT_THAT(order(), ElementsAre("c-newest", "a-older", "b-newer"));
}

TEST_F(ServingSimTest, MoreRestartsGoBeforeFewer) {
    start(node_yaml("n1") + node_yaml("n2") +
          replica_yaml("calm", "n1", "2026-03-02T08:00:00Z", "", "containerStatuses: [{name: c, restartCount: 1}]") +
          replica_yaml("shaky", "n2", "2026-03-02T08:00:00Z", "", "containerStatuses: [{name: c, restartCount: 7}]"));
    EXPECT_THAT(order(), ElementsAre("shaky", "calm"));
}

TEST_F(ServingSimTest, NewReplicasAreBoundInTheirPlane) {
    const auto node = [](const std::string& name, const std::string& plane, const std::string& more = "") {
        return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + ", labels: {reprieve.dev/plane: " + plane +
               "}}\n" + more + "status: {allocatable: {cpu: '1', pods: '20'}}\n";
    };
    start(node("a", "east") + node("b", "west", "spec: {unschedulable: true}\n") + node("c", "west") +
          "---\napiVersion: reprieve.dev/v1\nkind: ServingDeployment\nmetadata: {name: chat}\n"
          "spec: {replicas: 2, planes: [{name: west}]}\n"
          "---\napiVersion: apps/v1\nkind: Deployment\n"
          "metadata: {name: chat-west, labels: {reprieve.dev/serving: chat, reprieve.dev/plane: west}}\n"
          "spec:\n  replicas: 2\n  template:\n    metadata: {labels: {reprieve.dev/serving: chat, reprieve.dev/plane: "
          "west}}\n    spec: {terminationGracePeriodSeconds: 5, containers: [{name: c, resources: {requests: {cpu: "
          "'1'}}}]}\n");
    const auto nodes = [&] {
        std::multiset<std::string> out;
        for (const std::string& name : pods())
            out.insert(text_at(pod(name).body, {"spec", "nodeName"}));
        return out;
    };
    EXPECT_THAT(nodes(), ElementsAre("", "c"));
    // The one that waits is bound as soon as there is room.
    ASSERT_TRUE(world()
                    .api()
                    .apply(Json::parse(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"b"},
        "spec":{"unschedulable":false}})"))
                    .has_value());
    world().settle();
    EXPECT_THAT(nodes(), ElementsAre("b", "c"));
}

}  // namespace
}  // namespace reprieve
