#include "sim/controllers.h"

#include <algorithm>
#include <set>

#include "sim/test_world.h"

namespace reprieve {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

class ControllersTest : public SimTest {
protected:
    std::vector<std::string> active() {
        std::vector<std::string> out;
        for (SlotId slot : store().of_kind("Pod")) {
            const Pod& fact = store().at(slot).pod();
            if (!fact.terminating() && !fact.finished()) out.push_back(fact.name);
        }
        return out;
    }
    void apply(const std::string& json) {
        const auto done = world().api().apply(Json::parse(json));
        ASSERT_TRUE(done.has_value()) << done.error().message;
        world().settle();
    }
};

std::string deployment_yaml(const std::string& name, int replicas) {
    return "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name +
           "}\nspec:\n  replicas: " + std::to_string(replicas) + "\n  selector: {matchLabels: {app: " + name +
           "}}\n  template:\n    metadata: {labels: {app: " + name +
           "}, annotations: {reprieve.dev/sim-start: 2s}}\n    spec: {schedulerName: reprieve, containers: [{name: "
           "main, resources: {requests: {cpu: '1'}}}]}\n";
}

std::string owned_by(const std::string& api_version, const std::string& kind, const std::string& name) {
    return "ownerReferences: [{apiVersion: " + api_version + ", kind: " + kind + ", name: " + name +
           ", uid: u-1, controller: true}]";
}

TEST_F(ControllersTest, a_deployment_has_as_many_pods_as_it_asks_for) {
    start(node_yaml("n1") + deployment_yaml("web", 3));
    ASSERT_THAT(pods(), SizeIs(3));
    const Store::Entry& one = pod(pods().front());
    EXPECT_THAT(one.key.name, StartsWith("web-"));
    EXPECT_EQ(one.owner.kind, "ReplicaSet.apps");
    EXPECT_EQ(text_at(one.body, {"spec", "schedulerName"}), "reprieve");
    EXPECT_EQ(text_at(one.body, {"metadata", "annotations", "reprieve.dev/sim-start"}), "2s");
    EXPECT_EQ(number_at(find("Deployment.apps", "web")->body, {"status", "replicas"}, -1), 3);
}

TEST_F(ControllersTest, an_evicted_replica_comes_back_at_once_under_another_name) {
    start(node_yaml("n1") + deployment_yaml("web", 2));
    const std::vector<std::string> before = pods();
    for (const std::string& name : before)
        bind(name, "n1");
    pass(5);
    const std::string uid = pod(before[0]).uid();
    remove(before[0]);
    ASSERT_THAT(pods(), SizeIs(3));  // the old one is still terminating
    const std::vector<std::string> now = active();
    ASSERT_THAT(now, SizeIs(2));
    for (const std::string& name : now) {
        EXPECT_NE(name, before[0]);
        EXPECT_NE(pod(name).uid(), uid);
    }
    pass(30);
    EXPECT_THAT(pods(), SizeIs(2));
}

TEST_F(ControllersTest, scaling_down_takes_unbound_then_cheap_then_new_pods) {
    start(node_yaml("n1") + deployment_yaml("web", 3));
    const std::vector<std::string> names = pods();
    bind(names[0], "n1");
    bind(names[1], "n1");
    pass(5);
    ASSERT_TRUE(
        world()
            .api()
            .annotate({"default/" + names[0], ""}, {{"controller.kubernetes.io/pod-deletion-cost", "-1000"}}, {})
            .has_value());
    apply(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":2}})");
    EXPECT_EQ(std::set(names.begin(), names.begin() + 2), [&] {
        const auto left = active();
        return std::set(left.begin(), left.end());
    }());
    apply(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":1}})");
    EXPECT_THAT(active(), ElementsAre(names[1]));
}

TEST_F(ControllersTest, a_scale_of_a_plan_finds_the_workload_of_the_plane) {
    start(deployment_yaml("a", 3) + deployment_yaml("b", 3));
    apply(
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","labels":{"reprieve.dev/serving":"h","reprieve.dev/plane":"w1"}}})");
    apply(
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"b","labels":{"reprieve.dev/serving":"h","reprieve.dev/plane":"w2"}}})");
    ASSERT_TRUE(
        world().api().scale({.deployment = "default/h", .plane = "w2", .from = 3, .to = 1, .hints = {}}).has_value());
    world().settle();
    EXPECT_EQ(number_at(find("Deployment.apps", "a")->body, {"spec", "replicas"}, -1), 3);
    EXPECT_EQ(number_at(find("Deployment.apps", "b")->body, {"status", "replicas"}, -1), 1);
    EXPECT_FALSE(world()
                     .api()
                     .scale({.deployment = "default/nobody", .plane = "w2", .from = 1, .to = 0, .hints = {}})
                     .has_value());
}

TEST_F(ControllersTest, a_deleted_deployment_takes_its_pods_with_it) {
    start(node_yaml("n1") + deployment_yaml("web", 2));
    bind(pods()[0], "n1");
    ASSERT_TRUE(world()
                    .api()
                    .erase(Json::parse(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"}})"))
                    .has_value());
    world().settle();
    EXPECT_THAT(active(), IsEmpty());
    pass(60);
    EXPECT_THAT(pods(), IsEmpty());
}

TEST_F(ControllersTest, pods_whose_replica_set_is_in_no_manifest_are_made_again) {
    start(node_yaml("n1") + pod_yaml("web-5d-aaaaa",
                                     "n1",
                                     owned_by("apps/v1", "ReplicaSet", "web-5d") +
                                         "\n  annotations: {reprieve.dev/devices: '0', keep: me}"));
    remove("web-5d-aaaaa");
    ASSERT_THAT(active(), SizeIs(1));
    const Store::Entry& again = pod(active()[0]);
    EXPECT_THAT(again.key.name, StartsWith("web-5d-"));
    EXPECT_NE(again.key.name, "web-5d-aaaaa");
    EXPECT_FALSE(again.pod().node.valid());
    EXPECT_EQ(text_at(again.body, {"metadata", "annotations", "reprieve.dev/devices"}), "");
    EXPECT_EQ(text_at(again.body, {"metadata", "annotations", "keep"}), "me");
    pass(60);
    EXPECT_THAT(pods(), SizeIs(1));
}

TEST_F(ControllersTest, a_replica_set_known_from_its_pods_is_adopted_by_their_deployment) {
    start(node_yaml("n1") + deployment_yaml("web", 2) +
          pod_yaml("web-5d-aaaaa", "n1", "labels: {app: web}\n  " + owned_by("apps/v1", "ReplicaSet", "web-5d")));
    EXPECT_NE(find("ReplicaSet.apps", "web-5d"), nullptr);
    EXPECT_THAT(pods(), SizeIs(2));
}

TEST_F(ControllersTest, single_pods_and_daemons_do_not_come_back) {
    start(node_yaml("n1") + pod_yaml("alone", "n1") +
          pod_yaml("agent", "n1", owned_by("apps/v1", "DaemonSet", "agents")));
    remove("alone");
    remove("agent");
    pass(60);
    EXPECT_THAT(pods(), IsEmpty());
}

TEST_F(ControllersTest, a_job_makes_pods_until_enough_have_finished) {
    start(node_yaml("n1") + R"(---
apiVersion: batch/v1
kind: Job
metadata: {name: sums}
spec:
  parallelism: 2
  completions: 3
  template:
    metadata: {annotations: {reprieve.dev/sim-run: 10s}}
    spec: {schedulerName: reprieve, containers: [{name: main, resources: {requests: {cpu: "1"}}}]}
)");
    ASSERT_THAT(pods(), SizeIs(2));
    bind(pods()[0], "n1");
    bind(pods()[1], "n1");
    pass(5);
    remove(pods()[0]);  // an evicted one does not count
    EXPECT_THAT(active(), SizeIs(2));
    for (int i = 0; i < 10; ++i) {
        for (const std::string& name : active()) {
            if (!pod(name).pod().node) bind(name, "n1");
        }
        pass(40);
    }
    EXPECT_THAT(active(), IsEmpty());
    EXPECT_EQ(number_at(find("Job.batch", "sums")->body, {"status", "succeeded"}, -1), 3);
}

TEST_F(ControllersTest, what_a_job_has_finished_stays_finished_when_the_pods_are_gone) {
    start(node_yaml("n1") + R"(---
apiVersion: batch/v1
kind: Job
metadata: {name: sums}
spec: {template: {metadata: {annotations: {reprieve.dev/sim-run: 10s}}, spec: {containers: [{name: main}]}}}
)");
    const std::string name = pods().front();
    bind(name, "n1");
    pass(20);
    remove(name);
    EXPECT_THAT(pods(), IsEmpty());
}

TEST_F(ControllersTest, members_of_a_volcano_job_come_back_under_their_own_names_once_gone) {
    start(node_yaml("n1") + R"(---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train}
spec:
  minAvailable: 2
  queue: research
  schedulerName: reprieve
  tasks:
    - {name: master, replicas: 1, template: {spec: {containers: [{name: main, resources: {requests: {cpu: "1"}}}]}}}
    - {name: worker, replicas: 2, template: {spec: {containers: [{name: main, resources: {requests: {cpu: "1"}}}]}}}
)");
    EXPECT_THAT(pods(), ElementsAre("train-master-0", "train-worker-0", "train-worker-1"));
    const Store::Entry* group = find("PodGroup.scheduling.volcano.sh", "train");
    ASSERT_NE(group, nullptr);
    EXPECT_EQ(number_at(group->body, {"spec", "minMember"}, -1), 2);
    EXPECT_EQ(text_at(group->body, {"spec", "queue"}), "research");
    EXPECT_EQ(store().words().find_string("train"), pod("train-worker-1").pod().group);
    EXPECT_EQ(store().words().find_string("worker"), pod("train-worker-1").pod().role);
    bind("train-worker-0", "n1");
    pass(5);
    const std::string uid = pod("train-worker-0").uid();
    remove("train-worker-0");
    EXPECT_EQ(pod("train-worker-0").uid(), uid);
    pass(31);
    EXPECT_NE(pod("train-worker-0").uid(), uid);
    EXPECT_FALSE(pod("train-worker-0").pod().node.valid());
}

TEST_F(ControllersTest, a_stateful_set_keeps_its_names) {
    start(node_yaml("n1") + R"(---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec: {replicas: 3, template: {spec: {containers: [{name: main}]}}}
)");
    EXPECT_THAT(pods(), ElementsAre("db-0", "db-1", "db-2"));
    remove("db-1");
    EXPECT_THAT(pods(), ElementsAre("db-0", "db-1", "db-2"));
    apply(R"({"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db"},"spec":{"replicas":1}})");
    EXPECT_THAT(pods(), ElementsAre("db-0"));
}

class BudgetsTest : public ControllersTest {
protected:
    std::int64_t allowed(const std::string& name) {
        return number_at(find("PodDisruptionBudget.policy", name)->body, {"status", "disruptionsAllowed"}, -1);
    }
};

TEST_F(BudgetsTest, follow_the_health_of_their_pods) {
    start(node_yaml("n1") + deployment_yaml("web", 3) + R"(---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: min}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: max}
spec: {maxUnavailable: 34%, selector: {matchLabels: {app: web}}}
)");
    EXPECT_EQ(allowed("min"), 0);
    for (const std::string& name : pods())
        bind(name, "n1");
    pass(5);
    EXPECT_EQ(allowed("min"), 1);
    EXPECT_EQ(allowed("max"), 2);
    remove(pods()[0]);
    EXPECT_EQ(allowed("min"), 0);
    EXPECT_EQ(allowed("max"), 1);
}

TEST_F(BudgetsTest, an_eviction_beyond_the_budget_is_refused) {
    start(node_yaml("n1") + deployment_yaml("web", 2) + R"(---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
)");
    const std::vector<std::string> names = pods();
    for (const std::string& name : names)
        bind(name, "n1");
    pass(5);
    EXPECT_TRUE(world().api().evict({"default/" + names[0], ""}).has_value());
    const auto refused = world().api().evict({"default/" + names[1], ""});
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().message, StartsWith("429"));
    EXPECT_FALSE(pod(names[1]).pod().terminating());
}

}  // namespace
}  // namespace reprieve
