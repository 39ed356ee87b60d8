// Devices by claim: 5,000 nodes of 8 GPUs, each held by a claim of its own. A preemptor of 2 devices, a gang of 64 pods
// with 8 devices each, a claim that no node can meet, one claim that changes, and what a device costs in memory.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include "actions/cycle.h"
#include "base/check.h"
#include "manifest/decode.h"
#include "worlds.h"

namespace reprieve {
namespace {

constexpr std::int64_t kGpus = 8;

class ClaimWorld {
public:
    explicit ClaimWorld(std::int64_t nodes) : cluster_(ClusterOptions{}), decoder_(cluster_.words()) {
        add(R"({"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"gpu"},
                "spec":{"selectors":[{"cel":{"expression":"device.driver == 'gpu.example.com'"}}]}})");
        for (const std::int64_t count : {1, 2, 8, 9}) {
            const std::string n = std::to_string(count);
            add(R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaimTemplate","metadata":{"namespace":"default",
                    "name":"gpus-)" +
                n + R"("},"spec":{"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu",
                    "count":)" +
                n + "}}]}}}}");
        }
        for (std::int64_t i = 0; i < nodes; ++i) {
            const std::string node = "n" + std::to_string(i);
            add_node(cluster_, node, 64'000, std::int64_t{1} << 40);
            std::string devices;
            for (std::int64_t g = 0; g < kGpus; ++g)
                devices += std::string(g == 0 ? "" : ",") + R"({"name":"gpu-)" + std::to_string(g) +
                           R"(","attributes":{"model":{"string":"a"}},"capacity":{"memory":{"value":"80Gi"}}})";
            add(R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"name":")" + node +
                R"("},"spec":{"driver":"gpu.example.com","nodeName":")" + node + R"(","pool":{"name":")" + node +
                R"(","generation":1,"resourceSliceCount":1},"devices":[)" + devices + "]}}");
            for (std::int64_t g = 0; g < kGpus; ++g)
                add_holder(node, g);
        }
    }

    void add_holder(const std::string& node, std::int64_t gpu) {
        const std::string name = node + "-" + std::to_string(gpu);
        add(pod_json(name, 0, node, R"("resourceClaims":[{"name":"g","resourceClaimName":")" + name + R"("}])"));
        add(claim_json(name, node, gpu));
    }
    static std::string claim_json(const std::string& name, const std::string& node, std::int64_t gpu) {
        return R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"namespace":"default","name":")" +
               name + R"("},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu"}}]}},
                "status":{"allocation":{"devices":{"results":[{"request":"r","driver":"gpu.example.com","pool":")" +
               node + R"(","device":"gpu-)" + std::to_string(gpu) +
               R"("}]},"nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In",
                "values":[")" +
               node + R"("]}]}]}},"reservedFor":[{"resource":"pods","name":")" + name + R"(","uid":"u"}]}})";
    }
    static std::string pod_json(const std::string& name,
                                int priority,
                                const std::string& node,
                                const std::string& claims,
                                const std::string& group = {}) {
        std::string notes =
            group.empty() ? "" : R"(,"annotations":{"scheduling.k8s.io/group-name":")" + group + R"("})";
        std::string place = node.empty() ? "" : R"("nodeName":")" + node + R"(",)";
        return R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"default","name":")" + name +
               R"(","uid":"u")" + notes + R"(},"spec":{"priority":)" + std::to_string(priority) + "," + place + claims +
               R"(,"containers":[{"name":"main","resources":{"requests":{"cpu":"1"}}}]},"status":{"phase":")" +
               (node.empty() ? "Pending" : "Running") + R"("}})";
    }
    void add_wanting(const std::string& name, std::int64_t gpus, const std::string& group = {}) {
        add(pod_json(
            name,
            100,
            "",
            R"("resourceClaims":[{"name":"g","resourceClaimTemplateName":"gpus-)" + std::to_string(gpus) + R"("}])",
            group));
    }

    void add(const std::string& json) {
        auto decoded = decoder_.decode(json);
        REPRIEVE_CHECK(decoded.has_value() && decoded->has_value(), "{}", json);
        cluster_.apply(std::move(**decoded));
    }
    void refresh() {
        const auto done = cluster_.refresh({std::int64_t{1'772'442'000} * 1'000'000});
        REPRIEVE_CHECK(done.has_value());
    }
    Cluster& cluster() { return cluster_; }

private:
    Cluster cluster_;
    Decoder decoder_;
};

void TwoDevices(benchmark::State& state) {
    ClaimWorld world(state.range(0));
    const std::int64_t preemptors = state.range(1);
    for (std::int64_t i = 0; i < preemptors; ++i)
        world.add_wanting("high-" + std::to_string(i), 2);
    world.refresh();
    for (auto _ : state) {
        const Plan plan = run_cycle(world.cluster(), {});
        REPRIEVE_CHECK(static_cast<std::int64_t>(plan.placements.size()) == preemptors);
        REPRIEVE_CHECK(static_cast<std::int64_t>(plan.evictions.size()) == 2 * preemptors);
    }
}
BENCHMARK(TwoDevices)->Unit(benchmark::kMillisecond)->Args({5000, 1})->Args({5000, 101});

void GangOfWholeNodes(benchmark::State& state) {
    ClaimWorld world(state.range(0));
    add_gang(world.cluster(), "train", 64, 100);
    for (int i = 0; i < 64; ++i)
        world.add_wanting("train-" + std::to_string(i), 8, "train");
    world.refresh();
    std::string status;
    for (auto _ : state) {
        const Plan plan = run_cycle(world.cluster(), {});
        REPRIEVE_CHECK(plan.placements.size() == 64 && plan.evictions.size() == 512, "{}", plan.placements.size());
        status = to_text(plan.certificates.front().status);
    }
    state.SetLabel(status);
}
BENCHMARK(GangOfWholeNodes)->Unit(benchmark::kMillisecond)->Arg(5000);

void NineOfEight(benchmark::State& state) {
    ClaimWorld world(state.range(0));
    world.add_wanting("never", 9);
    world.refresh();
    for (auto _ : state) {
        const Plan plan = run_cycle(world.cluster(), {});
        REPRIEVE_CHECK(plan.evictions.empty() && plan.unplaced.size() == 1);
    }
}
BENCHMARK(NineOfEight)->Unit(benchmark::kMillisecond)->Arg(1)->Arg(5000);

void OneClaimChanges(benchmark::State& state) {
    ClaimWorld world(state.range(0));
    world.refresh();
    std::int64_t turn = 0;
    for (auto _ : state) {
        world.add(ClaimWorld::claim_json("n7-3", "n7", turn++ % 2 == 0 ? 9 : 3));
        world.refresh();
    }
}
BENCHMARK(OneClaimChanges)->Unit(benchmark::kMillisecond)->Arg(5000);

// What slices, claims and the tables made of them take, beside the same nodes and pods without claims.
void MemoryOfADevice(benchmark::State& state) {
    for (auto _ : state) {
        const std::size_t before = mallinfo2().uordblks;
        ClaimWorld world(state.range(0));
        world.refresh();
        const std::size_t after = mallinfo2().uordblks;
        state.counters["bytes_per_device_with_its_pod_and_claim"] =
            static_cast<double>(after - before) / static_cast<double>(state.range(0) * kGpus);
    }
}
BENCHMARK(MemoryOfADevice)->Unit(benchmark::kMillisecond)->Arg(5000)->Iterations(1);

}  // namespace
}  // namespace reprieve
