// Which devices claims get, and that a what-if with claims gives back every byte.
#include "state/device_choice.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/check.h"
#include "manifest/load.h"
#include "state/cluster.h"
#include "state/transaction.h"

namespace reprieve {
namespace {

constexpr const char* kNode = R"(
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 64, pods: 110}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: 'device.driver == "gpu.example"'}}]}
)";

std::string slice(int devices, const std::string& more = "") {
    std::string list;
    for (int i = 0; i < devices; ++i)
        list += fmt::format("  - {{name: gpu-{}{}}}\n", i, more);
    return fmt::format(
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {{name: s}}\nspec:\n"
        "  driver: gpu.example\n  pool: {{name: n1, generation: 1, resourceSliceCount: 1}}\n  nodeName: n1\n"
        "  devices:\n{}",
        list);
}

std::string pod(const std::string& name, const std::string& claim, bool runs) {
    return fmt::format(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {}}}\nspec: {{{}priority: 1, resourceClaims: [{{name: c, "
        "resourceClaimName: {}}}], containers: [{{name: c}}]}}\n",
        name,
        runs ? "nodeName: n1, " : "",
        claim);
}

std::string claim(const std::string& name, int count, const std::string& status = "") {
    return fmt::format(
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {{name: {}}}\nspec: {{devices: "
        "{{requests: [{{name: r, exactly: {{deviceClassName: gpu, count: {}}}}}]}}}}\n{}",
        name,
        count,
        status);
}

std::string held(const std::string& device, const std::string& by) {
    return fmt::format(
        "status: {{allocation: {{devices: {{results: [{{request: r, driver: gpu.example, pool: n1, device: {}}}]}}}}, "
        "reservedFor: [{{resource: pods, name: {}}}]}}\n",
        device,
        by);
}

struct World {
    explicit World(const std::string& manifests) : cluster({}) {
        Loader loader(cluster.words(), [this](Object&& object, const SourceRef&) {
            const auto added = cluster.add(std::move(object));
            REPRIEVE_CHECK(added, "{}", added.error().message);
        });
        const auto loaded = loader.load_text("test", kNode + manifests);
        REPRIEVE_CHECK(loaded, "{}", loaded.error().text());
        REPRIEVE_CHECK(cluster.refresh(Time{}).has_value());
    }
    PodId find(const std::string& name) { return cluster.find_pod(cluster.words().string("default"), name); }
    NodeId node() { return cluster.find_node(cluster.words().string("n1")); }
    // The names of the devices that the pod would get later; or why not.
    std::vector<std::string> choose(const std::string& name) {
        const Snapshot& s = cluster.snapshot();
        const ClaimBook* const later[] = {&s.later.claim_book()};
        std::vector<ClaimGrant> grants;
        std::string why;
        if (choose_claimed_devices(s, find(name), node(), later, grants, &why) != DeviceChoice::kFound) return {why};
        std::vector<std::string> out;
        for (const ClaimGrant& grant : grants) {
            for (const GivenDevice& given : grant.given.devices)
                out.push_back(s.words->str(std::get<2>(s.device_claims.pools.key(given.device))));
        }
        return out;
    }

    Cluster cluster;
};

using Names = std::vector<std::string>;

TEST(DeviceChoiceTest, FirstFitInTheOrderOfThePool) {
    World world(slice(3) + claim("held", 1, held("gpu-0", "a")) + pod("a", "held", true) + claim("want", 2) +
                pod("b", "want", false));
    EXPECT_EQ(world.choose("b"), (Names{"gpu-1", "gpu-2"}));
}

// Without leaving out devices that are like one that led nowhere, this would try 2^31 combinations.
TEST(DeviceChoiceTest, OneMoreThanThereAreEndsAtOnce) {
    World world(slice(31) + claim("want", 32) + pod("b", "want", false));
    EXPECT_EQ(world.choose("b"), (Names{"claim default/want: request r: 32 of class gpu wanted, 31 free"}));
}

TEST(DeviceChoiceTest, AClaimHoldsAtMostThirtyTwoDevices) {
    World world(slice(40) + claim("want", 33) + pod("b", "want", false));
    EXPECT_EQ(world.choose("b"),
              (Names{"claim default/want: asks for 33 devices, which exceeds the claim limit of 32"}));
}

TEST(DeviceChoiceTest, EvictAndRestoreGiveBackEveryByte) {
    World world(slice(2) + claim("x", 1, held("gpu-0", "a")) + pod("a", "x", true) + claim("y", 1, held("gpu-1", "c")) +
                pod("c", "y", true) + claim("want", 2) + pod("b", "want", false));
    Snapshot& s = world.cluster.snapshot();
    const Snapshot before = s;
    {
        Transaction tx(s);
        EXPECT_NE(world.choose("b"), (Names{"gpu-0", "gpu-1"}));
        tx.evict(world.find("a"));
        const auto half = tx.checkpoint();
        tx.evict(world.find("c"));
        EXPECT_EQ(world.choose("b"), (Names{"gpu-0", "gpu-1"}));
        tx.nominate(world.find("b"), world.node(), {});
        EXPECT_EQ(tx.grants_of(tx.journal().back()).size(), 1U);
        tx.unplace(world.find("b"));
        EXPECT_EQ(world.choose("b"), (Names{"gpu-0", "gpu-1"}));
        tx.rollback(half);
        tx.restore(world.find("a"));
        EXPECT_TRUE(same_occupation(s, before));
        tx.evict(world.find("a"));
        tx.evict(world.find("c"));
        tx.nominate(world.find("b"), world.node(), {});
    }
    EXPECT_TRUE(same_occupation(s, before));
}

TEST(DeviceChoiceTest, APromisedDeviceIsNotPromisedTwice) {
    World world(slice(1) + claim("one", 1) + pod("a", "one", false) + claim("two", 1) + pod("b", "two", false));
    Transaction tx(world.cluster.snapshot());
    EXPECT_EQ(world.choose("b"), (Names{"gpu-0"}));
    tx.place(world.find("a"), world.node(), {});
    EXPECT_EQ(world.choose("b"),
              (Names{"claim default/two: request r: 1 of class gpu wanted, 0 free, 1 held by other claims"}));
}

}  // namespace
}  // namespace reprieve
