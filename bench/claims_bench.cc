// Devices by claim: 5,000 nodes of 8 GPUs, each held by a claim of its own. Preemptors of 2 devices, a gang of 64 pods
// with 8 devices each, a claim that no node can meet, one claim that changes, and what devices and claims take in
// memory.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <ctime>
#include <functional>

#include "actions/cycle.h"
#include "base/check.h"
#include "manifest/decode.h"
#include "worlds.h"

namespace reprieve {
namespace {

constexpr std::int64_t kGpus = 8;

struct Parts {
    bool slices = true;
    bool claims = true;
};

class ClaimWorld {
public:
    explicit ClaimWorld(std::int64_t nodes, const Parts& parts = {})
        : cluster_(ClusterOptions{}),
          decoder_(cluster_.words()) {
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
            for (std::int64_t g = 0; g < kGpus && parts.slices; ++g)
                devices += std::string(g == 0 ? "" : ",") + R"({"name":"gpu-)" + std::to_string(g) +
                           R"(","attributes":{"model":{"string":"a"}},"capacity":{"memory":{"value":"80Gi"}}})";
            if (parts.slices)
                add(R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"name":")" + node +
                    R"("},"spec":{"driver":"gpu.example.com","nodeName":")" + node + R"(","pool":{"name":")" + node +
                    R"(","generation":1,"resourceSliceCount":1},"devices":[)" + devices + "]}}");
            for (std::int64_t g = 0; g < kGpus; ++g)
                add_holder(node, g, parts);
        }
    }

    void add_holder(const std::string& node, std::int64_t gpu, const Parts& parts) {
        const std::string name = node + "-" + std::to_string(gpu);
        add(pod_json(name, 0, node, R"("resourceClaims":[{"name":"g","resourceClaimName":")" + name + R"("}])"));
        if (parts.claims) add(claim_json(name, node, gpu));
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

double milliseconds_of(const std::function<void()>& work) {
    const std::clock_t before = std::clock();  // of the processor
    work();
    return 1000.0 * static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
}

// What the cycle costs with one preemptor, and what each of a hundred more adds.
void TwoDevices(benchmark::State& state) {
    constexpr std::int64_t kMore = 100;
    ClaimWorld one(state.range(0));
    ClaimWorld many(state.range(0));
    one.add_wanting("high-0", 2);
    for (std::int64_t i = 0; i <= kMore; ++i)
        many.add_wanting("high-" + std::to_string(i), 2);
    one.refresh();
    many.refresh();
    const auto serve = [](ClaimWorld& world, std::size_t preemptors) {
        const Plan plan = run_cycle(world.cluster(), {});
        REPRIEVE_CHECK(plan.placements.size() == preemptors && plan.evictions.size() == 2 * preemptors);
    };
    double first = 0;
    double all = 0;
    for (auto _ : state) {
        first += milliseconds_of([&] { serve(one, 1); });
        all += milliseconds_of([&] { serve(many, kMore + 1); });
    }
    const auto runs = static_cast<double>(state.iterations());
    state.counters["first_ms"] = first / runs;
    state.counters["each_after_ms"] = (all - first) / runs / kMore;
}
BENCHMARK(TwoDevices)->Unit(benchmark::kMillisecond)->Arg(5000);

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

// A claim that no node can meet, beside the same cycle without it. All nodes are of one class.
void NineOfEight(benchmark::State& state) {
    ClaimWorld without(state.range(0));
    ClaimWorld world(state.range(0));
    world.add_wanting("never", 9);
    without.refresh();
    world.refresh();
    double extra = 0;
    std::string status;
    for (auto _ : state) {
        extra -= milliseconds_of([&] { benchmark::DoNotOptimize(run_cycle(without.cluster(), {})); });
        extra += milliseconds_of([&] {
            const Plan plan = run_cycle(world.cluster(), {});
            REPRIEVE_CHECK(plan.evictions.empty() && plan.unplaced.size() == 1);
            status = plan.certificates.empty() ? "no certificate" : to_text(plan.certificates.front().status);
        });
    }
    state.counters["extra_ms"] = extra / static_cast<double>(state.iterations());
    state.SetLabel(status);
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

// Slices and the tables made of them beside the same nodes without; claims beside the same pods without.
void MemoryOfADevice(benchmark::State& state) {
    const auto bytes_of = [&](const Parts& parts) {
        const std::size_t before = mallinfo2().uordblks;
        ClaimWorld world(state.range(0), parts);
        world.refresh();
        return static_cast<double>(mallinfo2().uordblks - before) / static_cast<double>(state.range(0) * kGpus);
    };
    for (auto _ : state) {
        const double bare = bytes_of({.slices = false, .claims = false});
        const double devices = bytes_of({.slices = true, .claims = false});
        const double all = bytes_of({});
        state.counters["bytes_a_device"] = devices - bare;
        state.counters["bytes_a_claim"] = all - devices;
    }
}
BENCHMARK(MemoryOfADevice)->Unit(benchmark::kMillisecond)->Arg(5000)->Iterations(1);

}  // namespace
}  // namespace reprieve
