// Shares of devices in the words of others: what nodes register, what pods ask for and hold.
#include <gtest/gtest.h>

#include "manifest/loaded.h"

namespace reprieve {
namespace {

constexpr std::int64_t kGibiOfDevice = std::int64_t{1} << 30U;
constexpr std::int64_t kMebiOfDevice = std::int64_t{1} << 20U;

Loaded sharing_node(const std::string& annotations, const std::string& status = "", const std::string& labels = "") {
    return load_text("apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n  annotations: {" + annotations +
                     "}\n  labels: {" + labels + "}\nstatus: {" + status + "}\n");
}

Loaded sharing_pod(const std::string& limits, const std::string& annotations = "", const std::string& labels = "") {
    return load_pod("  containers: [{name: c, resources: {limits: {" + limits + "}}}]\n",
                    "  annotations: {" + annotations + "}\n  labels: {" + labels + "}\n");
}

DeviceAsk sharing_ask(const std::string& limits, const std::string& annotations = "") {
    return sharing_pod(limits, annotations).shape().devices;
}

std::vector<std::string> told_of(const Loaded& in) {
    std::vector<std::string> out;
    for (const auto& [text, count] : in.report.warnings)
        out.push_back(text);
    return out;
}

TEST(DeviceDialects, HamisNode) {
    const Loaded in =
        sharing_node("hami.io/node-nvidia-register: 'GPU-a,10,8192,100,A10,0,true:GPU-b,10,8192,100,A10,0,false:'",
                     "allocatable: {nvidia.com/gpu: 20}");
    ASSERT_EQ(in.one<Node>().devices.size(), 1U) << "one is not healthy";
    const Device& device = in.one<Node>().devices.front();
    EXPECT_EQ(device.index, 0);
    EXPECT_EQ(device.memory, 8 * kGibiOfDevice);
    EXPECT_EQ(device.milli, 1000);
    EXPECT_EQ(device.sharers, 10);
    EXPECT_EQ(in.text(device.id), "GPU-a");
    EXPECT_TRUE(in.one<Node>().dialects.has(DeviceDialect::kHami));
    EXPECT_FALSE(in.one<Node>().dialects.has(DeviceDialect::kVgpu));
}

TEST(DeviceDialects, ARegisterThatCannotBeReadGivesNothingAway) {
    const Loaded in = sharing_node("hami.io/node-nvidia-register: 'GPU-a,10'", "allocatable: {nvidia.com/gpu: 20}");
    EXPECT_TRUE(in.one<Node>().devices.empty()) << "20 are shares, not devices";
    EXPECT_FALSE(in.one<Node>().dialects.has(DeviceDialect::kHami));
    EXPECT_EQ(told_of(in),
              (std::vector<std::string>{"Node n1: metadata.annotations[hami.io/node-nvidia-register]: device 0: has 2 "
                                        "fields, not 7 or more; no device is given away there"}));
}

TEST(DeviceDialects, MigIsLeftOut) {
    const Loaded in = sharing_node("volcano.sh/node-vgpu-register: 'GPU-a,7,40960,A100,true,mig:'");
    EXPECT_TRUE(in.one<Node>().devices.empty());
    EXPECT_EQ(told_of(in).size(), 1U);
}

TEST(DeviceDialects, CardsHaveEqualParts) {
    const Loaded in =
        sharing_node("volcano.sh/gpu-unhealthy-ids: '1'",
                     "capacity: {volcano.sh/gpu-number: 3, volcano.sh/gpu-memory: 24576}, allocatable: {cpu: 1}");
    ASSERT_EQ(in.one<Node>().devices.size(), 2U);
    EXPECT_EQ(in.one<Node>().devices[1].index, 2);
    EXPECT_EQ(in.one<Node>().devices[1].memory, 8 * kGibiOfDevice);
    EXPECT_TRUE(in.one<Node>().dialects.has(DeviceDialect::kGpuShare));
    EXPECT_FALSE(sharing_node("", "allocatable: {volcano.sh/gpu-memory: 24576}")
                     .one<Node>()
                     .dialects.has(DeviceDialect::kGpuShare));
}

TEST(DeviceDialects, KaiSharesWhatIsCounted) {
    const Loaded in = sharing_node("", "allocatable: {nvidia.com/gpu: 2}", "nvidia.com/gpu.memory: '81559'");
    EXPECT_TRUE(in.one<Node>().dialects.has(DeviceDialect::kKai));
    EXPECT_EQ(in.one<Node>().devices.front().memory, 81500 * kMebiOfDevice) << "in hundreds of MiB";
    EXPECT_EQ(sharing_node("", "allocatable: {nvidia.com/gpu: 2}").one<Node>().devices.front().memory, 0);
    EXPECT_FALSE(sharing_node("", "allocatable: {nvidia.com/gpu: 8}", "nvidia.com/gpu.replicas: '4'")
                     .one<Node>()
                     .dialects.has(DeviceDialect::kKai));
}

TEST(DeviceDialects, ADescriptionByHandServesAll) {
    const Loaded in = sharing_node(
        "reprieve.dev/devices: '[{\"index\":0,\"memory\":\"8Gi\"}]', "
        "hami.io/node-nvidia-register: 'GPU-a,10,1,100,A10,0,true:'");
    EXPECT_EQ(in.one<Node>().devices, (std::vector<Device>{{.index = 0, .memory = 8 * kGibiOfDevice}}));
    EXPECT_TRUE(in.one<Node>().dialects.has(DeviceDialect::kKai));
}

TEST(DeviceDialects, WhatHamiPodsAskFor) {
    const Loaded in =
        sharing_pod("nvidia.com/gpu: 2, nvidia.com/gpumem: 3000, nvidia.com/gpucores: 30, nvidia.com/priority: 1");
    const DeviceAsk& two = in.shape().devices;
    EXPECT_EQ(two.dialect, DeviceDialect::kHami);
    EXPECT_EQ(two.whole, 0);
    EXPECT_EQ(two.shares, 2);
    EXPECT_EQ(two.share_memory, 3000 * kMebiOfDevice);
    EXPECT_EQ(two.share_milli, 300);
    EXPECT_EQ(in.amount(in.shape().requests, "nvidia.com/gpu"), 2) << "the kubelet counts them";
    EXPECT_EQ(in.shape().requests.size(), 2U) << "amounts of each device are no amounts of the node";
    EXPECT_EQ(sharing_ask("nvidia.com/gpumem: 3000").shares, 1);
    EXPECT_EQ(
        sharing_ask("nvidia.com/gpu: 1, nvidia.com/gpumem: 10, nvidia.com/gpumem-percentage: 50").share_memory_milli,
        0);
    EXPECT_EQ(sharing_ask("nvidia.com/gpu: 1, nvidia.com/gpumem-percentage: 50").share_memory_milli, 500);
    EXPECT_EQ(sharing_ask("nvidia.com/gpu: 1, nvidia.com/gpumem-percentage: 100").share_milli, 1000);
    EXPECT_EQ(sharing_ask("nvidia.com/gpu: 1, nvidia.com/gpucores: 20").share_memory_milli, 1000);
    EXPECT_EQ(sharing_ask("nvidia.com/gpu: 1").whole, 1);
    EXPECT_NE(sharing_pod("amd.com/gpu: 1, nvidia.com/gpumem: 3000").error, "");
    EXPECT_NE(sharing_pod("nvidia.com/gpumem: 9223372036854775807").error, "");
    EXPECT_NE(sharing_pod("nvidia.com/gpumem: 1, volcano.sh/vgpu-number: 1").error, "");
}

TEST(DeviceDialects, WhatVolcanoPodsAskFor) {
    EXPECT_EQ(sharing_ask("volcano.sh/vgpu-number: 1").dialect, DeviceDialect::kVgpu);
    const DeviceAsk both = sharing_ask("volcano.sh/vgpu-memory: 10, volcano.sh/vgpu-memory-percentage: 50");
    EXPECT_EQ(both.share_memory, 0) << "per cent go before MiB";
    EXPECT_EQ(both.share_memory_milli, 500);
    const Loaded memory = sharing_pod("volcano.sh/gpu-memory: 1024");
    EXPECT_EQ(memory.shape().devices.dialect, DeviceDialect::kGpuShare);
    EXPECT_EQ(memory.shape().devices.share_memory, kGibiOfDevice);
    EXPECT_EQ(memory.shape().requests.size(), 1U) << "never summed over the node";
    const Loaded cards = sharing_pod("volcano.sh/gpu-number: 2");
    EXPECT_EQ(cards.shape().devices.whole, 2);
    EXPECT_EQ(cards.amount(cards.shape().requests, "volcano.sh/gpu-number"), 2);
    EXPECT_NE(sharing_pod("volcano.sh/gpu-number: 2, volcano.sh/gpu-memory: 1").error, "");
}

TEST(DeviceDialects, WhatKaiPodsAskFor) {
    const DeviceAsk half = sharing_ask("", "gpu-fraction: '0.5', gpu-fraction-num-devices: '2'");
    EXPECT_EQ(half.dialect, DeviceDialect::kKai);
    EXPECT_EQ(half.shares, 2);
    EXPECT_EQ(half.share_memory_milli, 500);
    EXPECT_EQ(sharing_ask("", "gpu-memory: '4096'").share_memory, 4 * kGibiOfDevice);
    EXPECT_NE(sharing_pod("nvidia.com/gpu: 1", "gpu-fraction: '0.5'").error, "");
    for (const char* wrong : {"gpu-fraction: x",
                              "gpu-fraction: '1.5'",
                              "gpu-fraction: '-1'",
                              "gpu-fraction: '1'",
                              "gpu-fraction: '0.5', gpu-memory: '1'",
                              "gpu-fraction-num-devices: '2'",
                              "gpu-memory: 16Gi",
                              "gpu-memory: '0'",
                              "gpu-fraction-num-devices: many"}) {
        const Loaded in = sharing_pod("", wrong);
        EXPECT_EQ(in.shape().devices.share_memory_milli, 1000) << wrong;
        EXPECT_NE(in.one<Pod>().more().hold, "") << wrong;
        EXPECT_EQ(told_of(in).size(), 1U) << wrong;
    }
}

TEST(DeviceDialects, WhatPodsHold) {
    const Loaded hami = sharing_pod("", "hami.io/vgpu-devices-allocated: 'GPU-b,NVIDIA,3000,30:;GPU-a,NVIDIA,500,0:;'");
    const auto& held = hami.one<Pod>().more().named_devices;
    ASSERT_EQ(held.size(), 2U);
    const bool b_first = hami.text(held[0].name) == "GPU-b";
    const NamedHold& b = held[b_first ? 0 : 1];
    EXPECT_EQ(b.memory, 3000 * kMebiOfDevice);
    EXPECT_EQ(b.milli, 300);
    EXPECT_EQ(sharing_pod("", "volcano.sh/vgpu-ids-new: 'GPU-a,NVIDIA,1,0:'").one<Pod>().more().named_devices.size(),
              1U);

    const Loaded cards = sharing_pod("volcano.sh/gpu-number: 2", "volcano.sh/gpu-index: '3,1'");
    ASSERT_EQ(cards.one<Pod>().more().named_devices.size(), 2U);
    EXPECT_EQ(cards.one<Pod>().more().named_devices[0].index, 1);

    for (const char* wrong : {"hami.io/vgpu-devices-allocated: GPU-a", "volcano.sh/gpu-index: first"}) {
        const Loaded in = sharing_pod("", wrong);
        EXPECT_TRUE(in.one<Pod>().more().named_devices.empty());
        EXPECT_EQ(told_of(in).size(), 1U) << wrong;
    }
}

TEST(DeviceDialects, KaisGroups) {
    const Loaded in =
        sharing_pod("", "gpu-fraction: '0.5'", "runai-gpu-group: g1, runai-gpu-group/g2: g2, runai-gpu-groups: x");
    ASSERT_EQ(in.one<Pod>().more().named_devices.size(), 2U);
    EXPECT_EQ(in.one<Pod>().more().named_devices[0].by, NamedHold::By::kGroup);
    EXPECT_FALSE(in.one<Pod>().more().preemptible);
    const Loaded keeper = sharing_pod("nvidia.com/gpu: 1", "", "runai-gpu-group: g1");
    EXPECT_EQ(keeper.one<Pod>().more().preemptible, false) << "others would lose their device with it";
}

TEST(DeviceDialects, HeldMemoryAndComputeStandTogether) {
    const Loaded in = sharing_pod("", "reprieve.dev/devices: '0:4Gi:300m'");
    EXPECT_EQ(in.one<Pod>().more().held_devices, (std::vector<DeviceHold>{{0, 4 * kGibiOfDevice, 300}}));
    EXPECT_NE(sharing_pod("", "reprieve.dev/devices: '0:4Gi:4Gi'").error, "");
    EXPECT_NE(sharing_pod("", "reprieve.dev/devices: '0:'").error, "");
}

}  // namespace
}  // namespace reprieve
