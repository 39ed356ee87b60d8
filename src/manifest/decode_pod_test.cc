#include <gtest/gtest.h>

#include "manifest/loaded.h"

namespace reprieve {
namespace {

TEST(DecodePod, WhoItIsAndHowItStands) {
    const Loaded in = load_text(R"(
apiVersion: v1
kind: Pod
metadata:
  name: web-0
  namespace: shop
  uid: u-1
  creationTimestamp: "2026-01-01T10:00:00Z"
  deletionTimestamp: "2026-01-01T12:00:00Z"
  deletionGracePeriodSeconds: 1
  labels: {app: web}
  ownerReferences:
  - {kind: ConfigMap, name: other, uid: o-1}
  - {kind: ReplicaSet, name: web, uid: o-2, controller: true}
spec:
  nodeName: n1
  priority: -5
  priorityClassName: low
  preemptionPolicy: Never
  schedulerName: mine
  schedulingGates: [{name: wait}]
  terminationGracePeriodSeconds: 60
  containers: [{name: c, image: app}]
status:
  phase: Running
  startTime: "2026-01-01T10:00:05Z"
  nominatedNodeName: n2
  conditions:
  - {type: Ready, status: "True"}
  - {type: DisruptionTarget, status: "True", reason: PreemptionByScheduler}
)");
    const Pod& pod = in.one<Pod>();
    EXPECT_EQ(in.text(pod.ns), "shop");
    EXPECT_EQ(pod.name, "web-0");
    EXPECT_EQ(pod.uid, "u-1");
    EXPECT_EQ(in.text(in.words->labels(pod.labels).get(in.words->string("app"))), "web");
    EXPECT_EQ(format_time(pod.created), "2026-01-01T10:00:00Z");
    EXPECT_EQ(format_time(pod.started), "2026-01-01T10:00:05Z");
    EXPECT_TRUE(pod.terminating());
    EXPECT_EQ(pod.grace_seconds, 1);
    EXPECT_EQ(in.text(pod.owner.kind), "ReplicaSet");
    EXPECT_EQ(in.text(pod.owner.uid), "o-2");
    EXPECT_EQ(in.text(pod.node), "n1");
    EXPECT_EQ(in.text(pod.nominated), "n2");
    EXPECT_EQ(pod.priority, -5);
    EXPECT_EQ(in.text(pod.priority_class), "low");
    EXPECT_EQ(pod.preemption_policy, PreemptionPolicy::kNever);
    EXPECT_EQ(pod.phase, PodPhase::kRunning);
    EXPECT_TRUE(pod.gated);
    EXPECT_TRUE(pod.ready);
    EXPECT_TRUE(pod.disruption_target);
    EXPECT_FALSE(pod.mirror);
    EXPECT_EQ(in.text(in.shape().scheduler), "mine");
    EXPECT_FALSE(in.shape().host);
    EXPECT_EQ(pod.extras, nullptr);
}

TEST(DecodePod, WhatIsNotWritten) {
    const Loaded in = load_text(
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","creationTimestamp":null},"spec":{"nodeName":null}})");
    const Pod& pod = in.one<Pod>();
    EXPECT_EQ(in.text(pod.ns), "default");
    EXPECT_FALSE(pod.node);
    EXPECT_FALSE(pod.priority);
    EXPECT_FALSE(pod.created.is_set());
    EXPECT_EQ(pod.phase, PodPhase::kPending);
    EXPECT_EQ(pod.grace_seconds, 30);
    EXPECT_EQ(in.text(in.shape().scheduler), "default-scheduler");
    EXPECT_EQ(in.shape().requests.get(kPods), 1);
    EXPECT_EQ(in.shape().requests.size(), 1U);
}

TEST(DecodePod, GraceOfAPodThatIsNotLeavingIsItsOwn) {
    EXPECT_EQ(load_pod("  terminationGracePeriodSeconds: 5\n").one<Pod>().grace_seconds, 5);
    EXPECT_EQ(load_pod("  terminationGracePeriodSeconds: 5\n", "  deletionTimestamp: \"2026-01-01T12:00:00Z\"\n")
                  .one<Pod>()
                  .grace_seconds,
              30);
}

TEST(DecodePod, ReadyOnlyWhereTheConditionSaysTrue) {
    EXPECT_FALSE(load_pod("status:\n  conditions: [{type: Ready, status: \"False\"}]\n").one<Pod>().ready);
    EXPECT_FALSE(
        load_pod("status:\n  conditions: [{type: DisruptionTarget, status: \"True\", reason: EvictionByEvictionAPI}]\n")
            .one<Pod>()
            .disruption_target);
}

TEST(DecodePod, FieldsInAnyOrder) {
    const Loaded sorted = load_text(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"a":"b"}},
        "spec":{"priority":3,"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","labelSelector":{},"matchLabelKeys":["a"]}]}})");
    const Loaded reversed = load_text(
        R"({"spec":{"topologySpreadConstraints":[{"matchLabelKeys":["a"],"labelSelector":{},"topologyKey":"zone","maxSkew":1}],
        "priority":3},"metadata":{"labels":{"a":"b"},"name":"p"},"kind":"Pod","apiVersion":"v1"})");
    EXPECT_EQ(sorted.one<Pod>().priority, 3);
    EXPECT_EQ(reversed.one<Pod>().priority, 3);
    ASSERT_EQ(reversed.shape().spread.size(), 1U);
    EXPECT_EQ(reversed.shape().spread[0].selector.requirements.size(), 1U);
}

// One row for each spelling of "belongs to gang g".
TEST(DecodePod, GangInEveryDialect) {
    const std::string in_spec = "  schedulingGroup: {podGroupName: g}\n";
    EXPECT_EQ(load_pod(in_spec).text(load_pod(in_spec).one<Pod>().group), "g");
    for (const std::string metadata : {"  annotations: {scheduling.k8s.io/group-name: g}\n",
                                       "  labels: {scheduling.x-k8s.io/pod-group: g}\n",
                                       "  labels: {pod-group.scheduling.sigs.k8s.io: g}\n",
                                       "  labels: {pod-group.scheduling.sigs.k8s.io/name: g}\n",
                                       "  annotations: {gang.scheduling.koordinator.sh/name: g}\n"}) {
        const Loaded in = load_pod("", metadata);
        EXPECT_EQ(in.text(in.one<Pod>().group), "g") << metadata;
    }
}

TEST(DecodePod, TwoGangsAreAContradiction) {
    EXPECT_EQ(
        load_pod("", "  annotations: {scheduling.k8s.io/group-name: a}\n  labels: {scheduling.x-k8s.io/pod-group: b}\n")
            .error,
        "in.yaml:6: Pod ns/p: metadata.annotations[scheduling.k8s.io/group-name]: names gang \"a\", but "
        "metadata.labels[scheduling.x-k8s.io/pod-group] names \"b\"");
    EXPECT_EQ(
        load_pod("", "  annotations: {scheduling.k8s.io/group-name: a}\n  labels: {scheduling.x-k8s.io/pod-group: a}\n")
            .error,
        "");
}

TEST(DecodePod, KoordinatorGangWithoutAnObject) {
    const Loaded in = load_pod("", R"(  annotations:
    gang.scheduling.koordinator.sh/name: g
    gang.scheduling.koordinator.sh/min-available: "3"
    gang.scheduling.koordinator.sh/groups: '["ns/g","ns/h"]'
    gang.scheduling.koordinator.sh/mode: NonStrict
    gang.scheduling.koordinator.sh/match-policy: once-satisfied
)");
    EXPECT_EQ(in.one<Pod>().more().koordinator_min, 3);
    EXPECT_EQ(in.text(in.one<Pod>().more().koordinator_gang_groups), R"(["ns/g","ns/h"])");
    EXPECT_EQ(in.report.warnings.size(), 2U);
    EXPECT_EQ(load_pod("", "  labels: {pod-group.scheduling.sigs.k8s.io/min-available: \"2\"}\n")
                  .one<Pod>()
                  .more()
                  .koordinator_min,
              2);
    EXPECT_EQ(load_pod("", "  labels: {pod-group.scheduling.sigs.k8s.io/min-available: many}\n").error,
              "in.yaml:6: Pod ns/p: metadata.labels[pod-group.scheduling.sigs.k8s.io/min-available]: \"many\" is not a "
              "whole number");
}

TEST(DecodePod, QueueAndRole) {
    const Loaded volcano = load_pod("",
                                    "  annotations: {scheduling.volcano.sh/queue-name: q}\n  labels: "
                                    "{quota.scheduling.koordinator.sh/name: k, volcano.sh/task-spec: ps}\n");
    EXPECT_EQ(volcano.text(volcano.one<Pod>().queue), "q");
    EXPECT_FALSE(volcano.one<Pod>().queue_is_quota);
    EXPECT_EQ(volcano.text(volcano.one<Pod>().role), "ps");
    const Loaded quota = load_pod("", "  labels: {quota.scheduling.koordinator.sh/name: k}\n");
    EXPECT_EQ(quota.text(quota.one<Pod>().queue), "k");
    EXPECT_TRUE(quota.one<Pod>().queue_is_quota);
    const Loaded label = load_pod("", "  labels: {scheduling.volcano.sh/queue-name: l}\n");
    EXPECT_EQ(label.text(label.one<Pod>().queue), "l");
}

struct Marker {
    const char* metadata;
    std::optional<bool> preemptible;
};

TEST(DecodePod, MarkersOfPreemptibility) {
    const Marker rows[] = {
        {"", std::nullopt},
        {"  annotations: {volcano.sh/preemptable: \"false\"}\n", false},
        {"  labels: {volcano.sh/preemptable: \"true\"}\n", true},
        {"  labels: {volcano.sh/preemptable: nonsense}\n", false},
        {"  labels: {quota.scheduling.koordinator.sh/preemptible: \"false\"}\n", false},
        {"  labels: {scheduling.koordinator.sh/disable-preemptible: \"true\"}\n", false},
        {"  labels: {scheduling.koordinator.sh/disable-preemptible: \"false\"}\n", std::nullopt},
        {"  annotations: {reprieve.dev/preemptible: \"false\"}\n", false},
        {"  labels: {reprieve.dev/preemptible: \"true\"}\n", true},
        {"  annotations: {reprieve.dev/preemptible: \"true\"}\n  labels: {volcano.sh/preemptable: \"false\"}\n",
         false}};
    for (const Marker& row : rows)
        EXPECT_EQ(load_pod("", row.metadata).one<Pod>().more().preemptible, row.preemptible) << row.metadata;
    EXPECT_EQ(load_pod("", rows[4].metadata).one<Pod>().more().quota_preemptible, false);
    EXPECT_EQ(load_pod("", rows[4].metadata).one<Pod>().more().preemptible_marker,
              "quota.scheduling.koordinator.sh/preemptible");
    EXPECT_EQ(load_pod("", "  labels: {reprieve.dev/preemptible: maybe}\n").error,
              "in.yaml:6: Pod ns/p: metadata.labels[reprieve.dev/preemptible]: \"maybe\" is neither true nor false");
}

TEST(DecodePod, OwnAnnotations) {
    const Loaded in =
        load_pod("", R"(  labels: {preemptionrank: "7", quota.scheduling.koordinator.sh/can-preempt: "true"}
  annotations:
    reprieve.dev/min-runtime: 30m
    reprieve.dev/restart-cost: 1h30m
    reprieve.dev/last-checkpoint: "2026-01-01T11:00:00Z"
    reprieve.dev/claimed-by: ns/h
    reprieve.dev/plan: '{"id":"sha256:1","node":"n2","victims":["u1","u2"],"deadline":"2026-01-01T12:05:00Z"}'
    preemptionrank: "-2"
    controller.kubernetes.io/pod-deletion-cost: "-1000"
    scheduling.koordinator.sh/soft-eviction: '{"reason":"x"}'
    kubernetes.io/config.mirror: abc
)");
    const PodExtras& more = in.one<Pod>().more();
    EXPECT_EQ(more.min_runtime->seconds(), 1800);
    EXPECT_EQ(more.restart_cost->seconds(), 5400);
    EXPECT_EQ(format_time(more.last_checkpoint), "2026-01-01T11:00:00Z");
    EXPECT_EQ(more.claimed_by, "ns/h");
    ASSERT_TRUE(more.plan);
    EXPECT_EQ(more.plan->id, "sha256:1");
    EXPECT_EQ(in.text(more.plan->node), "n2");
    EXPECT_EQ(more.plan->victim_uids, (std::vector<std::string>{"u1", "u2"}));
    EXPECT_EQ(format_time(more.plan->deadline), "2026-01-01T12:05:00Z");
    EXPECT_EQ(more.preemption_rank, -2);  // the annotation wins
    EXPECT_EQ(more.deletion_cost, -1000);
    EXPECT_TRUE(more.has_deletion_cost);
    EXPECT_EQ(more.can_preempt, true);
    EXPECT_EQ(more.soft_eviction, R"({"reason":"x"})");
    EXPECT_TRUE(in.one<Pod>().mirror);
}

TEST(DecodePod, MalformedAnnotationsNameTheirKey) {
    EXPECT_EQ(load_pod("", "  annotations: {reprieve.dev/min-runtime: \"-5s\"}\n").error,
              "in.yaml:6: Pod ns/p: metadata.annotations[reprieve.dev/min-runtime]: \"-5s\" is negative");
    EXPECT_NE(
        load_pod("", "  annotations: {reprieve.dev/min-runtime: soon}\n").error.find("[reprieve.dev/min-runtime]"),
        std::string::npos);
    EXPECT_EQ(
        load_pod("", "  annotations: {reprieve.dev/plan: '{\"victims\": [5]}'}\n").error,
        "in.yaml:6: Pod ns/p: metadata.annotations[reprieve.dev/plan].victims[0]: must be a string, not a number");
    EXPECT_EQ(load_pod("", "  annotations: {reprieve.dev/plan: nonsense}\n").error,
              "in.yaml:6: Pod ns/p: metadata.annotations[reprieve.dev/plan]: is not valid JSON: expected a value");
    EXPECT_EQ(load_pod("", "  labels: {app: 5}\n").error,
              "in.yaml:6: Pod ns/p: metadata.labels.app: must be a string, not a number");
}

TEST(DecodePod, DevicesHeld) {
    const Loaded whole = load_pod("", "  annotations: {reprieve.dev/devices: \"3, 1\"}\n");
    EXPECT_EQ(whole.one<Pod>().more().held_devices, (std::vector<DeviceHold>{{1, 0, 0}, {3, 0, 0}}));
    const Loaded shares = load_pod("", "  annotations: {reprieve.dev/devices: \"0:4Gi,1:500m\"}\n");
    EXPECT_EQ(shares.one<Pod>().more().held_devices,
              (std::vector<DeviceHold>{{0, std::int64_t{4} << 30U, 0}, {1, 0, 500}}));
    for (const char* bad : {"x", "0,", "-1", "0:", "0:0", "0:-5", "0,0", "1:5x", ","}) {
        EXPECT_NE(load_pod("", "  annotations: {reprieve.dev/devices: \"" + std::string(bad) + "\"}\n").error, "")
            << bad;
    }
    EXPECT_TRUE(load_pod("", "  annotations: {reprieve.dev/devices: \"\"}\n").one<Pod>().more().held_devices.empty());
}

TEST(DecodePod, DevicesHeldInKoordinatorsRecord) {
    const Loaded in = load_pod("", R"(  annotations:
    scheduling.koordinator.sh/device-allocated: >-
      {"gpu":[{"minor":1,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory":"16Gi","koordinator.sh/gpu-memory-ratio":"100"}},
      {"minor":0,"resources":{"koordinator.sh/gpu-core":"50","koordinator.sh/gpu-memory":"8Gi","koordinator.sh/gpu-memory-ratio":"50"}}]}
)");
    EXPECT_EQ(in.one<Pod>().more().held_devices,
              (std::vector<DeviceHold>{{0, std::int64_t{8} << 30U, 500}, {1, 0, 0}}));
}

TEST(DecodePod, MalformedFields) {
    EXPECT_EQ(load_pod("  priority: high\n").error,
              "in.yaml:8: Pod ns/p: spec.priority: must be a whole number, not a string");
    EXPECT_EQ(load_pod("  priority: 99999999999\n").error,
              "in.yaml:8: Pod ns/p: spec.priority: 99999999999 is more than 2147483647");
    EXPECT_EQ(load_pod("  preemptionPolicy: Sometimes\n").error,
              "in.yaml:8: Pod ns/p: spec.preemptionPolicy: \"Sometimes\" is not one of: PreemptLowerPriority, Never");
    EXPECT_EQ(
        load_pod("status: {phase: Sleeping}\n").error,
        "in.yaml:8: Pod ns/p: status.phase: \"Sleeping\" is not one of: Pending, Running, Succeeded, Failed, Unknown");
    EXPECT_NE(load_pod("status: {startTime: yesterday}\n").error.find("status.startTime: "), std::string::npos);
    EXPECT_EQ(load_pod("  containers: {}\n").error,
              "in.yaml:8: Pod ns/p: spec.containers: must be a list, not an object");
}

}  // namespace
}  // namespace reprieve
