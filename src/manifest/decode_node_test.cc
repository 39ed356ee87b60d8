#include <gtest/gtest.h>

#include "manifest/loaded.h"

namespace reprieve {
namespace {

Loaded load_node(const std::string& rest, const std::string& metadata = "") {
    return load_text("apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n" + metadata + rest);
}

TEST(DecodeNode, WhatItOffers) {
    const Loaded in = load_node(R"(spec:
  unschedulable: true
  taints:
  - {key: gpu, value: "yes", effect: NoSchedule}
  podPreemptionPolicy: {disableResizePreemption: [x]}
status:
  allocatable: {cpu: "4", memory: 8Gi, pods: "110", nvidia.com/gpu: "2"}
  capacity: {cpu: "5"}
  conditions: [{type: Ready, status: "False"}, {type: DiskPressure, status: "True"}]
  images: [{names: ["a:1", "b:1"], sizeBytes: 7}]
)",
                                "  labels: {zone: a}\n");
    const Node& node = in.one<Node>();
    EXPECT_EQ(in.text(node.name), "n1");
    EXPECT_EQ(in.text(node.labels.get(in.words->string("zone"))), "a");
    EXPECT_EQ(node.allocatable.get(kCpu), 4000);
    EXPECT_EQ(node.allocatable.get(kPods), 110);
    EXPECT_TRUE(node.unschedulable);
    EXPECT_FALSE(node.ready);
    EXPECT_TRUE(node.resize_preemption_disabled);
    EXPECT_EQ(node.taints,
              (std::vector<Taint>{{in.words->string("gpu"), in.words->string("yes"), TaintEffect::kNoSchedule}}));
    EXPECT_EQ(node.images.size(), 2U);
    EXPECT_EQ(in.words->text(node.device_dim), "nvidia.com/gpu");
    EXPECT_EQ(node.devices, (std::vector<Device>{{.index = 0}, {.index = 1}}));
}

TEST(DecodeNode, WhatIsNotWritten) {
    const Loaded in = load_node("status: {capacity: {cpu: 2}}\n");
    EXPECT_TRUE(in.one<Node>().ready);
    EXPECT_EQ(in.one<Node>().allocatable.get(kCpu), 2000);
    EXPECT_TRUE(in.one<Node>().devices.empty());
    EXPECT_FALSE(in.one<Node>().device_dim);
}

TEST(DecodeNode, DevicesFromTheAnnotation) {
    const Loaded in = load_node("status: {allocatable: {nvidia.com/gpu: 8}}\n", R"(  annotations:
    reprieve.dev/devices: '[{"index":4,"memory":"80Gi","numa":1,"group":2},{"index":0,"memory":"80Gi"}]'
)");
    EXPECT_EQ(in.one<Node>().devices,
              (std::vector<Device>{{0, std::int64_t{80} << 30U, 0, 0}, {4, std::int64_t{80} << 30U, 1, 2}}));
    const auto fault = [](const std::string& value) {
        return load_node("", "  annotations:\n    reprieve.dev/devices: '" + value + "'\n").error;
    };
    EXPECT_EQ(fault("[{}]"), "in.yaml:6: Node n1: metadata.annotations[reprieve.dev/devices][0].index: is missing");
    EXPECT_EQ(fault(R"([{"index":0},{"index":0}])"),
              "in.yaml:6: Node n1: metadata.annotations[reprieve.dev/devices]: lists an index twice");
    EXPECT_EQ(fault(R"({"index":0})"),
              "in.yaml:6: Node n1: metadata.annotations[reprieve.dev/devices]: must be a list, not an object");
    EXPECT_EQ(
        fault(R"([{"index":0,)"),
        "in.yaml:6: Node n1: metadata.annotations[reprieve.dev/devices]: is not valid JSON: the text ends too early");
}

TEST(DecodeNode, Malformed) {
    EXPECT_EQ(load_node("spec: {taints: [{key: a}]}\n").error, "in.yaml:5: Node n1: spec.taints[0].effect: is missing");
    EXPECT_EQ(load_node("status: {allocatable: {nvidia.com/gpu: 1e9}}\n").error,
              "in.yaml:1: Node n1: status.allocatable: 1000000000 devices are more than a node can have");
    EXPECT_EQ(load_node("spec: {unschedulable: \"yes\"}\n").error,
              "in.yaml:5: Node n1: spec.unschedulable: must be true or false, not a string");
}

TEST(DecodeNamespace, KnowsItsOwnName) {
    const Loaded in = load_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: team, labels: {a: b}}\n");
    const Namespace& ns = in.one<Namespace>();
    EXPECT_EQ(ns.labels.size(), 2U);
    EXPECT_EQ(ns.labels.get(in.words->string("kubernetes.io/metadata.name")), ns.name);
}

TEST(DecodePriorityClass, ValueAndSettings) {
    const Loaded in = load_text(R"(
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: high
  annotations:
    reprieve.dev/min-runtime: 5m
    preemption-toleration.scheduling.x-k8s.io/minimum-preemptable-priority: "10000"
    preemption-toleration.scheduling.x-k8s.io/toleration-seconds: "3600"
value: 1000
globalDefault: true
preemptionPolicy: Never
)");
    const PriorityClass& high = in.one<PriorityClass>();
    EXPECT_EQ(high.value, 1000);
    EXPECT_TRUE(high.global_default);
    EXPECT_EQ(high.preemption_policy, PreemptionPolicy::kNever);
    EXPECT_EQ(high.settings.min_runtime->seconds(), 300);
    EXPECT_EQ(high.minimum_preemptable_priority, 10000);
    EXPECT_EQ(high.toleration_seconds, 3600);
    EXPECT_EQ(load_text("apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: x}\n").error,
              "in.yaml:1: PriorityClass x: value: is missing");
}

}  // namespace
}  // namespace reprieve
