#include <gtest/gtest.h>

#include "manifest/loaded.h"

namespace reprieve {
namespace {

constexpr std::int64_t kGi = std::int64_t{1} << 30U;

Loaded asking(const std::string& requests, const std::string& annotations = "") {
    return load_pod("  containers: [{name: c, resources: {requests: {" + requests + "}}}]\n",
                    annotations.empty() ? "" : "  annotations: {" + annotations + "}\n");
}

TEST(DeviceAsk, WholeDevicesStayARequest) {
    const Loaded in =
        asking("nvidia.com/gpu: 2", "reprieve.dev/device-policy: spread, reprieve.dev/same-group: \"true\"");
    EXPECT_EQ(in.shape().devices.whole, 2);
    EXPECT_EQ(in.words->text(in.shape().devices.whole_dim), "nvidia.com/gpu");
    EXPECT_EQ(in.amount(in.shape().requests, "nvidia.com/gpu"), 2);
    EXPECT_EQ(in.shape().devices.policy, DevicePolicy::kSpread);
    EXPECT_TRUE(in.shape().devices.same_group);
    EXPECT_EQ(asking("amd.com/gpu: 1").shape().devices.whole, 1);
    EXPECT_FALSE(asking("nvidia.com/gpu: 0").shape().devices.any());
    EXPECT_FALSE(asking("example.com/slots: 3").shape().devices.any());
}

TEST(DeviceAsk, SharesAreNoDimension) {
    const Loaded memory = asking("reprieve.dev/gpu-memory: 4Gi");
    EXPECT_EQ(memory.shape().devices.shares, 1);
    EXPECT_EQ(memory.shape().devices.share_memory, 4 * kGi);
    EXPECT_EQ(memory.shape().requests.size(), 1U);  // pods
    EXPECT_EQ(asking("reprieve.dev/gpu-milli: 500").shape().devices.share_milli, 500);
}

TEST(DeviceAsk, VolcanoCountsMebibytesPerDevice) {
    const DeviceAsk two =
        asking("volcano.sh/vgpu-memory: 4096, volcano.sh/vgpu-number: 2, volcano.sh/vgpu-cores: 30").shape().devices;
    EXPECT_EQ(two.shares, 2);
    EXPECT_EQ(two.share_memory, 4 * kGi);
    EXPECT_EQ(two.share_milli, 300);
    const DeviceAsk all = asking("volcano.sh/vgpu-number: 1").shape().devices;
    EXPECT_EQ(all.share_memory_milli, 1000);

    const Loaded two_containers = load_pod(
        "  containers:\n  - {name: a, resources: {limits: {volcano.sh/vgpu-number: 1, volcano.sh/vgpu-memory: 1024}}}\n"
        "  - {name: b, resources: {limits: {volcano.sh/vgpu-number: 1, volcano.sh/vgpu-memory: 1024}}}\n");
    EXPECT_EQ(two_containers.shape().devices.shares, 2);
    EXPECT_EQ(two_containers.shape().devices.share_memory, kGi);
}

TEST(DeviceAsk, KoordinatorCountsPercent) {
    const DeviceAsk half = asking("koordinator.sh/gpu-core: 50, koordinator.sh/gpu-memory-ratio: 50").shape().devices;
    EXPECT_EQ(half.shares, 1);
    EXPECT_EQ(half.share_milli, 500);
    EXPECT_EQ(half.share_memory_milli, 500);
    const DeviceAsk two = asking("koordinator.sh/gpu-core: 200, koordinator.sh/gpu-memory-ratio: 200").shape().devices;
    EXPECT_EQ(two.shares, 2);
    EXPECT_EQ(two.share_milli, 1000);
    EXPECT_EQ(two.share_memory_milli, 1000);
    EXPECT_EQ(asking("koordinator.sh/gpu-memory: 8Gi, koordinator.sh/gpu-core: 20").shape().devices.share_memory,
              8 * kGi);
    EXPECT_EQ(asking("koordinator.sh/gpu: 100").shape().devices.share_memory_milli, 1000);
    const DeviceAsk spread =
        asking("koordinator.sh/gpu.shared: 2, koordinator.sh/gpu-core: 100, koordinator.sh/gpu-memory-ratio: 100")
            .shape()
            .devices;
    EXPECT_EQ(spread.shares, 2);
    EXPECT_EQ(spread.share_milli, 500);
}

TEST(DeviceAsk, Contradictions) {
    EXPECT_EQ(
        asking("nvidia.com/gpu: 1, reprieve.dev/gpu-memory: 1Gi").error,
        "in.yaml:8: Pod ns/p: spec.containers: ask for devices in two ways: whole ones and shares exclude each other");
    EXPECT_NE(asking("koordinator.sh/gpu-core: 150").error, "");
    EXPECT_NE(asking("koordinator.sh/gpu-core: 200, koordinator.sh/gpu-memory-ratio: 100").error, "");
    EXPECT_NE(asking("nvidia.com/gpu: 9000000000").error, "");
    EXPECT_NE(asking("volcano.sh/vgpu-memory: 9223372036854775807").error, "");
    EXPECT_NE(asking("nvidia.com/gpu: 1", "reprieve.dev/device-policy: random").error, "");
}

}  // namespace
}  // namespace reprieve
