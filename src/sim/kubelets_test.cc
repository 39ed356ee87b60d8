#include "sim/kubelets.h"

#include "sim/test_world.h"

namespace reprieve {
namespace {

using KubeletsTest = SimTest;

TEST_F(KubeletsTest, a_bound_pod_runs_after_its_start_time) {
    start(node_yaml("n1") + pod_yaml("plain") + pod_yaml("slow", "", "annotations: {reprieve.dev/sim-start: 5s}"));
    bind("plain", "n1");
    bind("slow", "n1");
    EXPECT_EQ(phase("plain"), "Pending");
    pass(1);
    EXPECT_EQ(phase("plain"), "Running");
    EXPECT_TRUE(pod("plain").pod().ready);
    EXPECT_EQ(pod("plain").pod().started, kStart + seconds(1));
    EXPECT_EQ(phase("slow"), "Pending");
    pass(4);
    EXPECT_EQ(phase("slow"), "Running");
}

TEST_F(KubeletsTest, an_unbound_pod_never_starts) {
    start(node_yaml("n1") + pod_yaml("a"));
    pass(600);
    EXPECT_EQ(phase("a"), "Pending");
}

TEST_F(KubeletsTest, a_deleted_pod_terminates_for_its_grace_period) {
    start(node_yaml("n1") + pod_yaml("a", "n1"));
    remove("a");
    EXPECT_EQ(pod("a").pod().deleting, kStart + seconds(10));
    pass(9);
    EXPECT_THAT(pods(), testing::ElementsAre("a"));
    pass(1);
    EXPECT_THAT(pods(), testing::IsEmpty());
}

TEST_F(KubeletsTest, the_time_to_terminate_can_be_shorter_or_longer_than_the_grace_period) {
    start(node_yaml("n1") + pod_yaml("quick", "n1", "annotations: {reprieve.dev/sim-terminate: 2s}") +
          pod_yaml("stuck", "n1", "annotations: {reprieve.dev/sim-terminate: 10m}"));
    remove("quick");
    remove("stuck");
    pass(2);
    EXPECT_THAT(pods(), testing::ElementsAre("stuck"));
    pass(598);
    EXPECT_THAT(pods(), testing::IsEmpty());
}

TEST_F(KubeletsTest, finalizers_keep_the_object_and_not_its_room) {
    start(node_yaml("n1") + pod_yaml("a", "n1", "finalizers: [example.com/clean-up]"));
    remove("a");
    pass(10);
    EXPECT_THAT(pods(), testing::ElementsAre("a"));
    EXPECT_EQ(phase("a"), "Failed");
    const Json released = Json::parse(
        R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "default", "finalizers": null}})");
    ASSERT_TRUE(world().api().apply(released).has_value());
    world().settle();
    pass(1);
    EXPECT_THAT(pods(), testing::IsEmpty());
}

TEST_F(KubeletsTest, a_second_request_shortens_but_never_prolongs) {
    start(node_yaml("n1") + pod_yaml("a", "n1", "annotations: {reprieve.dev/sim-terminate: 10m}"));
    remove("a");
    ASSERT_TRUE(world().api().remove({"default/a", ""}, 60).has_value());
    EXPECT_EQ(pod("a").pod().deleting, kStart + seconds(10));
    ASSERT_TRUE(world().api().remove({"default/a", ""}, 1).has_value());
    world().settle();
    pass(1);
    EXPECT_THAT(pods(), testing::IsEmpty());
}

TEST_F(KubeletsTest, a_pod_on_no_node_is_gone_at_once) {
    start(pod_yaml("a"));
    remove("a");
    EXPECT_THAT(pods(), testing::IsEmpty());
}

TEST_F(KubeletsTest, a_pod_finishes_after_its_run_time) {
    start(node_yaml("n1") + pod_yaml("a", "", "annotations: {reprieve.dev/sim-run: 30s}"));
    bind("a", "n1");
    pass(30);
    EXPECT_EQ(phase("a"), "Running");
    pass(1);
    EXPECT_EQ(phase("a"), "Succeeded");
    EXPECT_FALSE(world().next_event().has_value());
}

TEST_F(KubeletsTest, what_was_terminating_when_the_world_began_goes_on) {
    start(node_yaml("n1") +
          pod_yaml("a", "n1", "deletionTimestamp: '2026-03-02T09:00:20Z'\n  deletionGracePeriodSeconds: 30"));
    pass(19);
    EXPECT_THAT(pods(), testing::ElementsAre("a"));
    pass(1);
    EXPECT_THAT(pods(), testing::IsEmpty());
}

TEST_F(KubeletsTest, pods_of_a_lost_node_are_collected_unless_it_comes_back) {
    start(node_yaml("n1") + node_yaml("n2") + pod_yaml("a", "n1") + pod_yaml("b", "n2") + R"(---
kind: Timeline
events:
  - {at: 10s, delete: [{apiVersion: v1, kind: Node, metadata: {name: n1}}, {apiVersion: v1, kind: Node, metadata: {name: n2}}]}
  - {at: 20s, apply: {apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: "4", pods: "20"}}}}
)");
    pass(49);
    EXPECT_THAT(pods(), testing::ElementsAre("a", "b"));
    pass(1);
    EXPECT_THAT(pods(), testing::ElementsAre("b"));
    pass(600);
    EXPECT_THAT(pods(), testing::ElementsAre("b"));
}

TEST_F(KubeletsTest, a_node_admits_what_it_has_room_for) {
    start(node_yaml("n1", 2) + pod_yaml("a", "n1") + pod_yaml("b") + pod_yaml("c"));
    bind("b", "n1");
    const auto refused = world().api().bind({"default/c", ""}, "n1", {});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().message, "node n1: OutOfcpu: requested 1000, used 2000, capacity 2000");
    EXPECT_FALSE(pod("c").pod().node.valid());
    // A terminating pod still holds its room; one that is gone does not.
    remove("a");
    EXPECT_FALSE(world().api().bind({"default/c", ""}, "n1", {}).has_value());
    pass(10);
    EXPECT_TRUE(world().api().bind({"default/c", ""}, "n1", {}).has_value());
}

TEST_F(KubeletsTest, no_device_is_given_twice) {
    start(node_yaml("n1", 4, 2) + pod_yaml("a") + pod_yaml("b") + pod_yaml("c"));
    ASSERT_TRUE(world().api().bind({"default/a", ""}, "n1", {"0"}).has_value());
    const auto refused = world().api().bind({"default/b", ""}, "n1", {"0"});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().message, "node n1: UnexpectedAdmissionError: device 0 is taken");
    EXPECT_TRUE(world().api().bind({"default/b", ""}, "n1", {"1:500m"}).has_value());
    EXPECT_FALSE(world().api().bind({"default/c", ""}, "n1", {"1:600m"}).has_value());
    EXPECT_TRUE(world().api().bind({"default/c", ""}, "n1", {"1:500m"}).has_value());
}

}  // namespace
}  // namespace reprieve
