// P7: all runtimes of a quota tree of three levels with 2,000 leaves, after one of them asks for more.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/check.h"
#include "plugins/quota_runtime.h"
#include "worlds.h"

namespace reprieve {
namespace {

constexpr int kTops = 10;
constexpr int kMiddles = 10;  // of each
constexpr int kLeaves = 20;   // of each

void add_quota(Cluster& cluster, const std::string& name, const std::string& parent, std::int64_t cpu) {
    Queue quota;
    quota.name = cluster.words().string(name);
    if (!parent.empty()) quota.parent = cluster.words().string(parent);
    quota.is_quota = true;
    for (const auto& [dim, unit] : {std::pair{kCpu, std::int64_t{1000}}, std::pair{kMemory, std::int64_t{1} << 30}}) {
        quota.guarantee.set(dim, cpu * unit);
        quota.limit.set(dim, cpu * unit * 4);
    }
    cluster.apply(std::move(quota));
}

std::unique_ptr<Cluster> quota_tree() {
    auto cluster = std::make_unique<Cluster>(ClusterOptions{});
    constexpr std::int64_t kLeafCpu = 4;
    for (int node = 0; node < 100; ++node)
        add_node(*cluster, fmt::format("n{:03}", node), 120'000, std::int64_t{120} << 30);
    for (int top = 0; top < kTops; ++top) {
        const std::string t = fmt::format("t{:02}", top);
        add_quota(*cluster, t, "", kLeafCpu * kLeaves * kMiddles);
        for (int middle = 0; middle < kMiddles; ++middle) {
            const std::string m = fmt::format("{}m{:02}", t, middle);
            add_quota(*cluster, m, t, kLeafCpu * kLeaves);
            for (int leaf = 0; leaf < kLeaves; ++leaf)
                add_quota(*cluster, fmt::format("{}l{:02}", m, leaf), m, kLeafCpu);
        }
    }
    REPRIEVE_CHECK(cluster->refresh(Time{1}).has_value());
    return cluster;
}

void RuntimesAfterOneChange(benchmark::State& state) {
    const auto cluster = quota_tree();
    const Snapshot& s = cluster->snapshot();
    QuotaRuntime runtime(s);
    std::vector<QueueId> leaves;
    for (QueueId q : IdRange<QueueId>(s.queues.size())) {
        if (s.queues[q].alive && s.queue_path[q].size() == 3) leaves.push_back(q);
    }
    REPRIEVE_CHECK(leaves.size() == kTops * kMiddles * kLeaves, "{} leaves", leaves.size());
    const auto ask = [](std::int64_t cpu) {
        return std::vector<Resources::Amount>{{kCpu, cpu * 1000}, {kMemory, cpu << 30}};
    };
    // Everybody wants to borrow: no leaf can be left out of a round.
    for (std::size_t i = 0; i < leaves.size(); ++i)
        runtime.count(leaves[i], ask(5 + static_cast<std::int64_t>(i % 11)), +1);
    std::size_t next = 0;
    int sign = +1;
    for (auto _ : state) {
        runtime.count(leaves[next], ask(3), sign);
        runtime.refresh();
        benchmark::DoNotOptimize(runtime.runtime(leaves[next], kCpu));
        sign = -sign;
        if (sign > 0) next = (next + 7) % leaves.size();
    }
}
BENCHMARK(RuntimesAfterOneChange)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace reprieve
