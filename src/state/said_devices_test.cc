// Who holds which device of a node, by the words of several dialects; and that a what-if gives back every byte of it.
#include "state/said_devices.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "base/check.h"
#include "manifest/load.h"
#include "model/placed_devices.h"
#include "state/cluster.h"
#include "state/transaction.h"

namespace reprieve {
namespace {

constexpr const char* kHamiNode =
    "apiVersion: v1\nkind: Node\nmetadata: {name: n1, annotations: {hami.io/node-nvidia-register: "
    "'GPU-a,10,8192,100,A10,0,true:GPU-b,2,8192,100,A10,0,true:'}}\nstatus: {allocatable: {nvidia.com/gpu: 12}}\n";

std::string running(const std::string& name,
                    const std::string& limits,
                    const std::string& annotations = "",
                    const std::string& labels = "") {
    return fmt::format(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {}, annotations: {{{}}}, labels: {{{}}}}}\n"
        "spec: {{nodeName: n1, containers: [{{name: c, resources: {{limits: {{{}}}}}}}]}}\nstatus: {{phase: "
        "Running}}\n",
        name,
        annotations,
        labels,
        limits);
}

struct DialectWorld {
    explicit DialectWorld(const std::string& manifests, ClusterOptions options = {}) : cluster(std::move(options)) {
        Loader loader(cluster.words(), [this](Object&& object, const SourceRef&) {
            const auto added = cluster.add(std::move(object));
            REPRIEVE_CHECK(added, "{}", added.error().message);
        });
        const auto loaded = loader.load_text("test", manifests);
        REPRIEVE_CHECK(loaded, "{}", loaded.error().text());
        REPRIEVE_CHECK(cluster.refresh(Time{}).has_value());
    }
    PodId find(const std::string& name) { return cluster.find_pod(cluster.words().string("default"), name); }
    std::string holds(const std::string& name) {
        std::string out;
        for (const DeviceHold& hold : cluster.snapshot().holds[find(name)])
            out += (out.empty() ? "" : ",") + device_text(hold);
        return out;
    }
    Cluster cluster;
};

constexpr const char* kShare = "nvidia.com/gpu: 1, nvidia.com/gpumem: 1024, nvidia.com/gpucores: 10";

TEST(SaidDevices, IdsAreTheNodesDevices) {
    DialectWorld world(
        kHamiNode + running("b", kShare, "hami.io/vgpu-devices-allocated: 'GPU-b,NVIDIA,2048,30:;'") +
        running("twice", kShare, "hami.io/vgpu-devices-allocated: 'GPU-a,NVIDIA,1,0:;GPU-a,NVIDIA,2,0:'") +
        running("gone", kShare, "hami.io/vgpu-devices-allocated: 'GPU-z,NVIDIA,2048,30:;'"));
    EXPECT_EQ(world.holds("b"), "1:2Gi:300m");
    EXPECT_EQ(world.holds("twice"), "0:1Mi,0:2Mi");
    EXPECT_EQ(world.holds("gone"), "") << "a device that the node no longer has";
}

TEST(SaidDevices, WhoSaysNothingHasTheLowestWithRoom) {
    DialectWorld world(kHamiNode +
                       running("full",
                               "nvidia.com/gpu: 1",
                               "hami.io/vgpu-devices-allocated: "
                               "'GPU-a,NVIDIA,8192,100:;'") +
                       running("silent", kShare) + running("more", kShare) + running("none", kShare));
    EXPECT_EQ(world.holds("full"), "0:8Gi:1000m");
    EXPECT_EQ(world.holds("more"), "1:1Gi:100m");
    EXPECT_EQ(world.holds("none"), "1:1Gi:100m");
    EXPECT_EQ(world.holds("silent"), "") << "the second device takes two sharers";
}

TEST(SaidDevices, WithoutRegistrationADeviceIsHeldWhole) {
    DialectWorld world(
        "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {nvidia.com/gpu: 4}}\n" +
        running("a", "nvidia.com/gpu: 2, nvidia.com/gpumem: 10", "hami.io/vgpu-devices-allocated: 'G,N,1,1'") +
        running("b", "volcano.sh/vgpu-number: 1"));
    EXPECT_EQ(world.holds("a"), "0,1");
    EXPECT_EQ(world.holds("b"), "2");
}

TEST(SaidDevices, GroupsShareADevice) {
    DialectWorld world(
        "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {nvidia.com/gpu: 4}}\n" +
        running("a", "cpu: 0", "gpu-fraction: '0.5'", "runai-gpu-group: x") +
        running("b", "cpu: 0", "gpu-fraction: '0.25'", "runai-gpu-group: x") +
        running("both",
                "cpu: 0",
                "gpu-fraction: '0.25', gpu-fraction-num-devices: '2'",
                "runai-gpu-group/x: x, runai-gpu-group/y: y") +
        running("keeper", "nvidia.com/gpu: 1", "", "runai-gpu-group: x") +
        running("lonely", "nvidia.com/gpu: 1", "", "runai-gpu-group: z") + running("whole", "nvidia.com/gpu: 1"));
    EXPECT_EQ(world.holds("a"), "0:500m");
    EXPECT_EQ(world.holds("b"), "0:250m");
    EXPECT_EQ(world.holds("both"), "0:250m,1:250m");
    EXPECT_EQ(world.holds("keeper"), "") << "the others of its group hold the device";
    EXPECT_EQ(world.holds("lonely"), "2") << "it keeps the device for a group that has nobody else";
    EXPECT_EQ(world.holds("whole"), "3");
}

TEST(SaidDevices, AWhatIfGivesBackEveryByte) {
    DialectWorld world(kHamiNode + running("b", kShare, "hami.io/vgpu-devices-allocated: 'GPU-b,NVIDIA,2048,30:;'") +
                       running("c", kShare));
    Snapshot& s = world.cluster.snapshot();
    const NodeId node = world.cluster.find_node(world.cluster.words().string("n1"));
    const std::vector<DeviceUse> before = s.later.use(node).devices;
    Transaction tx(s);
    const auto mark = tx.checkpoint();
    tx.evict(world.find("b"));
    EXPECT_TRUE(s.later.use(node).devices[1].idle());
    EXPECT_EQ(s.later.use(node).devices[0], before[0]);
    tx.rollback(mark);
    EXPECT_EQ(s.later.use(node).devices, before);
}

TEST(SaidDevices, WhereOthersHandThemOutSharesWait) {
    for (const bool leaves : {false, true}) {
        ClusterOptions options;
        options.leaves_dialects = leaves;
        DialectWorld world(kHamiNode + running("b", kShare), options);
        EXPECT_EQ(world.cluster.hold_of(world.find("b")),
                  leaves ? "its shares of devices are only planned: HAMi hands them to its device plugin" : "");
    }
}

TEST(SaidDevices, HamisRulesForSharers) {
    const std::vector<Device> devices{{.index = 0, .memory = 100, .sharers = 2}};
    const auto fits = [&](DeviceUse use, std::int64_t memory, std::int64_t milli) {
        const DeviceAsk ask{.shares = 1, .share_memory = memory, .share_milli = milli, .dialect = DeviceDialect::kHami};
        std::vector<DeviceHold> out;
        return choose_devices(devices, std::vector{use}, ask, out);
    };
    EXPECT_TRUE(fits({}, 100, 1000));
    EXPECT_FALSE(fits({.shares = 1, .memory = 1, .milli = 0}, 1, 1000)) << "all of the compute is for one alone";
    EXPECT_TRUE(fits({.shares = 1, .memory = 1, .milli = 400}, 99, 600));
    EXPECT_FALSE(fits({.shares = 1, .memory = 1, .milli = 400}, 99, 601));
    EXPECT_FALSE(fits({.shares = 1, .memory = 2, .milli = 400}, 99, 100));
    EXPECT_FALSE(fits({.shares = 1, .memory = 1, .milli = 1000}, 1, 0)) << "no compute is left";
    EXPECT_TRUE(fits({.shares = 1, .memory = 1, .milli = 999}, 1, 0));
    EXPECT_FALSE(fits({.shares = 2, .memory = 1, .milli = 1}, 1, 1)) << "two sharers at most";
    EXPECT_FALSE(fits({.whole = 1}, 1, 1));
}

}  // namespace
}  // namespace reprieve
