// Claims for devices under the control loop, on the embedded cluster with its claim controller.
#include "loop/loop_test_world.h"

namespace reprieve {
namespace {

std::string gpus_yaml(const std::string& node, int count) {
    std::string out = "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: " + node +
                      "-gpus}\nspec:\n  driver: gpu.example.com\n  nodeName: " + node + "\n  pool: {name: " + node +
                      ", generation: 1, resourceSliceCount: 1}\n  devices:\n";
    for (int i = 0; i < count; ++i)
        out += "  - {name: gpu-" + std::to_string(i) + "}\n";
    return out;
}

const char* const kClassAndTemplate =
    "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\n"
    "spec: {selectors: [{cel: {expression: \"device.driver == 'gpu.example.com'\"}}]}\n"
    "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: one}\n"
    "spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: 1}}]}}}\n";

std::string claiming_pod(const std::string& name, int priority) {
    std::string pod = pod_yaml({.name = name, .priority = priority});
    const std::string spec = "spec:\n";
    return pod.replace(
        pod.find(spec), spec.size(), "spec:\n  resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]\n");
}

std::string indented(const std::string& yaml) {
    std::string out = "    - ";
    for (const char c : yaml.substr(4)) {
        out += c;
        if (c == '\n') out += "      ";
    }
    return out + "\n";
}

class ClaimsLoopTest : public LoopTest {
protected:
    // The device that the pod's claim has; "" where it has none.
    std::string device_of(const std::string& pod) {
        const SlotId slot = world().store().find({kClaimKind, "default", pod + "-gpu"});
        if (!slot) return "";
        const Json& body = world().store().at(slot).body;
        const Json* results = find_path(body, {"status", "allocation", "devices", "results"});
        return results == nullptr ? "" : (*results)[0]["device"].get<std::string>();
    }
};

TEST_F(ClaimsLoopTest, ClaimsAreMadeAllocatedAndFreedForWhoeverIsMoreImportant) {
    start(node_yaml("n1") + gpus_yaml("n1", 2) + kClassAndTemplate + claiming_pod("low-0", 1) +
          claiming_pod("low-1", 1) + "---\nkind: Timeline\nevents:\n- at: 60s\n  apply:\n" +
          indented(claiming_pod("high", 100)));
    run();
    EXPECT_EQ(record().evicted.size(), 1U);
    EXPECT_EQ(node_of("high"), "n1");
    const std::string left = record().evicted == std::vector<std::string>{"default/low-0"} ? "low-1" : "low-0";
    EXPECT_NE(device_of("high"), "");
    EXPECT_NE(device_of(left), "");
    EXPECT_NE(device_of("high"), device_of(left));
    EXPECT_THAT(record().failures, testing::IsEmpty());
    expect_sound();
}

TEST_F(ClaimsLoopTest, ASchedulerThatDiedAfterTheAllocationBindsWithWhatIsThere) {
    start(node_yaml("n1") + gpus_yaml("n1", 2) + kClassAndTemplate + claiming_pod("p", 1));
    const SlotId slot = world().store().find({kClaimKind, "default", "p-gpu"});
    ASSERT_TRUE(slot);
    const std::string uid = world().store().at(world().store().find_pod("default/p")).uid();
    ASSERT_TRUE(world().api().apply(Json{
        {"apiVersion", "resource.k8s.io/v1"},
        {"kind", "ResourceClaim"},
        {"metadata", {{"name", "p-gpu"}, {"namespace", "default"}}},
        {"status",
         {{"allocation",
           {{"devices",
             {{"results", {{{"request", "r"}, {"driver", "gpu.example.com"}, {"pool", "n1"}, {"device", "gpu-1"}}}}}},
            {"nodeSelector",
             {{"nodeSelectorTerms",
               {{{"matchFields", {{{"key", "metadata.name"}, {"operator", "In"}, {"values", {"n1"}}}}}}}}}}}},
          {"reservedFor", {{{"resource", "pods"}, {"name", "p"}, {"uid", uid}}}}}}}));
    world().settle();
    run();
    EXPECT_EQ(node_of("p"), "n1");
    EXPECT_EQ(device_of("p"), "gpu-1");
    expect_sound();
}

TEST_F(ClaimsLoopTest, WhatWasAllocatedForAPodWithoutAPlaceIsGivenBack) {
    start(node_yaml("n1", 1) + node_yaml("n2") + gpus_yaml("n1", 1) + gpus_yaml("n2", 1) + kClassAndTemplate +
          pod_yaml({.name = "full", .priority = 100, .node = "n1"}) + claiming_pod("p", 1));
    const std::string uid = world().store().at(world().store().find_pod("default/p")).uid();
    ASSERT_TRUE(world().api().apply(Json{
        {"apiVersion", "resource.k8s.io/v1"},
        {"kind", "ResourceClaim"},
        {"metadata", {{"name", "p-gpu"}, {"namespace", "default"}}},
        {"status",
         {{"allocation",
           {{"devices",
             {{"results", {{{"request", "r"}, {"driver", "gpu.example.com"}, {"pool", "n1"}, {"device", "gpu-0"}}}}}},
            {"nodeSelector",
             {{"nodeSelectorTerms",
               {{{"matchFields", {{{"key", "metadata.name"}, {"operator", "In"}, {"values", {"n1"}}}}}}}}}}}},
          {"reservedFor", {{{"resource", "pods"}, {"name", "p"}, {"uid", uid}}}}}}}));
    world().settle();
    run();
    EXPECT_EQ(node_of("p"), "n2") << "its claim was for a node that is full";
    expect_sound();
}

}  // namespace
}  // namespace reprieve
