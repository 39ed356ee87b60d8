#include <gtest/gtest.h>

#include "manifest/loaded.h"

namespace reprieve {
namespace {

Loaded load_queue(const std::string& rest, const std::string& annotations = "") {
    return load_text("apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata:\n  name: q\n  annotations: {" +
                     annotations + "}\n" + rest);
}

Loaded load_quota(const std::string& spec, const std::string& labels = "", const std::string& annotations = "") {
    return load_text(
        "apiVersion: scheduling.sigs.k8s.io/v1alpha1\nkind: ElasticQuota\nmetadata:\n  name: q\n  namespace: ns\n  "
        "labels: {" +
        labels + "}\n  annotations: {" + annotations + "}\nspec: " + spec + "\n");
}

TEST(DecodeQueue, Volcano) {
    const Loaded in = load_queue(R"(spec:
  weight: 3
  priority: 5
  parent: top
  reclaimable: false
  capability: {cpu: 10, memory: 0}
  deserved: {nvidia.com/gpu: 4}
  guarantee: {resource: {cpu: 2}}
status: {state: Closing, allocated: {cpu: 1}}
)");
    const Queue& queue = in.one<Queue>();
    EXPECT_EQ(in.text(queue.name), "q");
    EXPECT_FALSE(queue.is_quota);
    EXPECT_EQ(queue.weight, 3);
    EXPECT_EQ(queue.priority, 5);
    EXPECT_EQ(in.text(queue.parent), "top");
    EXPECT_FALSE(queue.reclaimable);
    EXPECT_FALSE(queue.open);
    EXPECT_EQ(queue.limit.get(kCpu), 10000);
    EXPECT_TRUE(queue.limit.lists(kMemory));  // 0 is nothing, absent is unlimited
    EXPECT_EQ(in.amount(*queue.deserved, "nvidia.com/gpu"), 4);
    EXPECT_EQ(queue.guarantee.get(kCpu), 2000);
    EXPECT_EQ(queue.allocated->get(kCpu), 1000);
}

TEST(DecodeQueue, WhatIsNotWritten) {
    const Loaded in = load_queue("spec: {}\n");
    const Queue& queue = in.one<Queue>();
    EXPECT_EQ(queue.weight, 1);
    EXPECT_TRUE(queue.open);
    EXPECT_TRUE(queue.reclaimable);
    EXPECT_FALSE(queue.deserved);
    EXPECT_FALSE(queue.allocated);
    EXPECT_TRUE(load_queue("status: {state: Open}\n").one<Queue>().open);
}

TEST(DecodeQueue, OwnAnnotationsWinOverTheStatus) {
    const Loaded in = load_queue(
        "status: {allocated: {cpu: 9}}\n",
        R"(reprieve.dev/allocated: '{"cpu":"500m"}', reprieve.dev/request: '{"memory":"1Gi"}', reprieve.dev/min-runtime: 1m, reprieve.dev/over-since: "2026-01-01T00:00:00Z")");
    const Queue& queue = in.one<Queue>();
    EXPECT_EQ(queue.allocated->get(kCpu), 500);
    EXPECT_EQ(queue.request->get(kMemory), std::int64_t{1} << 30U);
    EXPECT_EQ(queue.settings.min_runtime->seconds(), 60);
    EXPECT_TRUE(queue.over_since.is_set());
    EXPECT_EQ(load_queue("", "reprieve.dev/allocated: '{\"cpu\":\"x\"}'").error.substr(0, 64),
              "in.yaml:5: Queue q: metadata.annotations[reprieve.dev/allocated]");
}

TEST(DecodeQueue, Contradictions) {
    EXPECT_EQ(load_queue("spec: {weight: 0}\n").error, "in.yaml:6: Queue q: spec.weight: 0 is less than 1");
    EXPECT_EQ(load_queue("spec: {parent: q}\n").error, "in.yaml:6: Queue q: spec.parent: is the queue itself");
    EXPECT_EQ(load_queue("spec: {capability: {cpu: 1}, guarantee: {resource: {cpu: 2}}}\n").error,
              "in.yaml:6: Queue q: spec.guarantee.resource.cpu: 2 is more than spec.capability: 1");
}

TEST(DecodeQueue, ElasticQuota) {
    const Loaded in = load_quota(
        "{min: {cpu: 2}, max: {cpu: 4, memory: 1Gi}}",
        "quota.scheduling.koordinator.sh/parent: top, quota.scheduling.koordinator.sh/is-parent: \"true\", "
        "quota.scheduling.koordinator.sh/tree-id: t, quota.scheduling.koordinator.sh/allow-lent-resource: \"false\", "
        "quota.scheduling.koordinator.sh/min-quota-scale: \"false\"",
        "quota.scheduling.koordinator.sh/shared-weight: '{\"cpu\":\"3\"}', quota.scheduling.koordinator.sh/namespaces: "
        "'[\"b\",\"a\"]'");
    const Queue& quota = in.one<Queue>();
    EXPECT_TRUE(quota.is_quota);
    EXPECT_EQ(in.text(quota.ns), "ns");
    EXPECT_EQ(quota.guarantee.get(kCpu), 2000);
    EXPECT_EQ(quota.limit.get(kCpu), 4000);
    EXPECT_EQ(in.text(quota.parent), "top");
    EXPECT_TRUE(quota.is_parent);
    EXPECT_EQ(in.text(quota.tree), "t");
    EXPECT_FALSE(quota.lends);
    EXPECT_FALSE(quota.min_scales);
    EXPECT_EQ(quota.shared_weight->get(kCpu), 3000);
    EXPECT_EQ(quota.namespaces.size(), 2U);
}

TEST(DecodeQueue, QuotaWithMinAboveMax) {
    EXPECT_EQ(load_quota("{min: {cpu: 5}, max: {cpu: 4}}").error,
              "in.yaml:8: ElasticQuota ns/q: spec.min.cpu: 5 is more than spec.max: 4");
    EXPECT_EQ(load_quota("{min: {cpu: 5}, max: {memory: 4}}").error, "");
}

TEST(DecodeQueue, AnOddFlagOfAQuotaIsReadAsItProtects) {
    const Loaded in = load_quota("{}", "quota.scheduling.koordinator.sh/allow-lent-resource: perhaps");
    EXPECT_EQ(in.error, "");
    EXPECT_FALSE(in.one<Queue>().lends);
}

}  // namespace
}  // namespace reprieve
