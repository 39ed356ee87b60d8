// P5 and P6: a dump of 5,000 nodes and 150,000 pods: MB of JSON per second, the next cycle after 100 changed pods,
// memory. The dump is written by bench/make_dump.py (REPRIEVE_DUMP names it); without one only the in-memory world is
// measured.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "actions/cycle.h"
#include "base/check.h"
#include "manifest/load.h"
#include "worlds.h"

namespace reprieve {
namespace {

constexpr Time kNow{std::int64_t{1'767'268'800} * 1'000'000};

std::int64_t resident_kib() {
    std::ifstream status("/proc/self/status");
    std::string line;
    while (std::getline(status, line)) {
        if (line.starts_with("VmRSS:")) return std::strtoll(line.c_str() + 6, nullptr, 10);
    }
    return 0;
}

void load(Cluster& cluster, const char* file) {
    Loader loader(cluster.words(), [&](Object&& object, const SourceRef&) {
        REPRIEVE_CHECK(cluster.add(std::move(object)).has_value());
    });
    const auto done = loader.load(file);
    REPRIEVE_CHECK(done.has_value(), "{}", done.error().text());
}

void LoadDump(benchmark::State& state) {
    const char* file = std::getenv("REPRIEVE_DUMP");
    if (file == nullptr) {
        state.SkipWithError("REPRIEVE_DUMP names no dump; make one with bench/make_dump.py");
        return;
    }
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(file));
    // Only the first cluster of the process tells what it costs: later ones live in memory that the first left behind.
    static double bytes_per_pod = 0;
    for (auto _ : state) {
        const std::int64_t before = resident_kib();
        auto owner = std::make_unique<Cluster>(ClusterOptions{});
        Cluster& cluster = *owner;
        load(cluster, file);
        benchmark::DoNotOptimize(cluster.pod_slots());
        state.PauseTiming();
        if (bytes_per_pod == 0) {
            REPRIEVE_CHECK(cluster.refresh(kNow).has_value());
            const auto names = static_cast<std::int64_t>(cluster.words().string_bytes());
            bytes_per_pod = static_cast<double>((resident_kib() - before) * 1024 - names) /
                            static_cast<double>(cluster.pod_slots());
        }
        owner.reset();
        state.ResumeTiming();
    }
    state.counters["bytes/pod"] = bytes_per_pod;
    state.SetBytesProcessed(state.iterations() * bytes);
}
BENCHMARK(LoadDump)->Unit(benchmark::kMillisecond)->Iterations(2);

// Also tells what a pod costs in memory beyond its names.
void CycleAfterChanges(benchmark::State& state) {
    const std::int64_t before = resident_kib();
    auto cluster = std::make_unique<Cluster>(ClusterOptions{});
    constexpr std::int64_t kNodes = 5000;
    constexpr std::int64_t kPods = 150'000;
    std::int64_t names = 0;
    for (std::int64_t n = 0; n < kNodes; ++n)
        add_node(*cluster, fmt::format("node-{:05}", n), 64'000, std::int64_t{256} << 30U);
    const auto shape = [&](std::int64_t p) {
        return PodShape{.name = fmt::format("workload-{:03}-{:06}", p % 400, p),
                        .cpu_milli = 500 + p % 7 * 100,
                        .memory = std::int64_t{1} << 30U,
                        .priority = static_cast<std::int32_t>(p % 3),
                        .node = fmt::format("node-{:05}", p % kNodes),
                        .started_s = p % 3600};
    };
    for (std::int64_t p = 0; p < kPods; ++p) {
        add_pod(*cluster, shape(p));
        names += static_cast<std::int64_t>(2 * shape(p).name.size() + 4);
    }
    REPRIEVE_CHECK(cluster->refresh(kNow).has_value());
    static const std::int64_t bytes_per_pod = ((resident_kib() - before) * 1024 - names) / kPods;  // of the first run
    const SchedulerConfig config;
    std::int64_t turn = 0;
    for (auto _ : state) {
        for (std::int64_t i = 0; i < 100; ++i) {
            const PodId id =
                cluster->find_pod(cluster->words().string("default"), shape((turn * 100 + i) % kPods).name);
            Pod pod = cluster->pod(id);
            pod.ready = !pod.ready;
            cluster->apply(std::move(pod));
        }
        ++turn;
        REPRIEVE_CHECK(cluster->refresh(kNow).has_value());
        benchmark::DoNotOptimize(run_cycle(*cluster, config));
    }
    state.counters["bytes/pod"] = static_cast<double>(bytes_per_pod);
}
BENCHMARK(CycleAfterChanges)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace reprieve
