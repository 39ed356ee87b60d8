#include "app/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reprieve {
namespace {

using ::testing::HasSubstr;

constexpr const char* kWorld = R"(
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "8", memory: 16Gi, pods: "10"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: low, namespace: a}, spec: {nodeName: n1, containers: [{name: c}]}}
)";

// A cluster with one node and one pod, and changes to it as what-if takes them.
class ChangesTest : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(load_cluster_text(cluster_, "world", kWorld, now_).has_value()); }

    // What is wrong with them; empty: nothing.
    [[nodiscard]] std::string change(const std::string& text) {
        const auto done = load_changes_text(cluster_, text, now_);
        return done ? "" : done.error().message;
    }
    [[nodiscard]] bool has_node(const char* name) {
        return cluster_.node(cluster_.find_node(cluster_.words().string(name)));
    }
    [[nodiscard]] bool has_pod(const char* ns, const char* name) {
        return static_cast<bool>(cluster_.find_pod(cluster_.words().string(ns), name));
    }
    [[nodiscard]] std::ptrdiff_t pods() const { return std::ssize(cluster_.snapshot().pods); }

    Cluster cluster_{ClusterOptions{}};
    Time now_ = *parse_time("2026-01-01T12:00:00Z");
};

TEST_F(ChangesTest, WhatExistsIsTakenAway) {
    EXPECT_EQ(change("{apiVersion: v1, kind: Pod, metadata: {name: low, namespace: a}, $patch: delete}"), "");
    EXPECT_FALSE(has_pod("a", "low"));
    EXPECT_EQ(change("{apiVersion: v1, kind: Node, metadata: {name: n1}, $patch: delete}"), "");
    EXPECT_FALSE(has_node("n1"));
}

TEST_F(ChangesTest, WhatDoesNotExistCannotBeTakenAway) {
    EXPECT_EQ(change("{apiVersion: v1, kind: Node, metadata: {name: n2}, $patch: delete}"),
              "what-if:1: Node n2: $patch: there is no such object, so it cannot be taken away");
    EXPECT_THAT(change("{apiVersion: v1, kind: Pod, metadata: {name: low, namespace: b}, $patch: delete}"),
                HasSubstr("Pod b/low: $patch: there is no such object"));
    EXPECT_THAT(change("{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: p, namespace: a}, "
                       "$patch: delete}"),
                HasSubstr("PodDisruptionBudget a/p: $patch: there is no such object"));
    EXPECT_TRUE(has_node("n1"));
    EXPECT_TRUE(has_pod("a", "low"));
}

TEST_F(ChangesTest, AWorkloadThatIsTakenAwayMakesNoPods) {
    EXPECT_THAT(change("{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: a}, $patch: delete}"),
                HasSubstr("Deployment a/d: $patch: there is no such object"));
    EXPECT_THAT(change("{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: a}, $patch: delete}"),
                HasSubstr("Job a/j: $patch: of this kind only the pods are known"));
    EXPECT_THAT(change("{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: s}, $patch: delete}"),
                HasSubstr("JobSet s: $patch: of this kind only the pods are known"));
    EXPECT_EQ(pods(), 1);
}

TEST_F(ChangesTest, OfOtherPatchesItSaysWhatGoes) {
    EXPECT_THAT(change("{apiVersion: v1, kind: Node, metadata: {name: n1}, $patch: replace}"),
                HasSubstr("Node n1: $patch: delete and merge are known"));
    EXPECT_THAT(change("{apiVersion: v1, kind: Pod, metadata: {name: none}, spec: {priority: 1}, $patch: merge}"),
                HasSubstr("Pod none: $patch: merge goes with spec.priority of a pod that exists"));
}

}  // namespace
}  // namespace reprieve
