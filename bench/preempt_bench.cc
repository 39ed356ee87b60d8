// P1 and P10: the PreemptionBasic shape: N nodes of 4 CPU with four pods of 900m, N preemptors of 3 CPU one after
// another. Every decision is exact over all nodes, on one thread; time/preemptor is the mean over the cycle.
#include <benchmark/benchmark.h>

#include "actions/cycle.h"
#include "base/check.h"
#include "worlds.h"

namespace reprieve {
namespace {

void PreemptionBasic(benchmark::State& state) {
    const std::int64_t nodes = state.range(0);
    const auto cluster = preemption_basic(nodes, nodes);
    const SchedulerConfig config;
    std::size_t victims = 0;
    for (auto _ : state) {
        const Plan plan = run_cycle(*cluster, config);
        victims = plan.evictions.size();
        REPRIEVE_CHECK(plan.placements.size() == static_cast<std::size_t>(nodes) && plan.unplaced.empty());
    }
    state.counters["time/preemptor"] = benchmark::Counter(static_cast<double>(state.iterations() * nodes),
                                                          benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
    state.counters["victims"] = static_cast<double>(victims);
}
BENCHMARK(PreemptionBasic)
    ->Unit(benchmark::kMillisecond)
    ->Arg(500)
    ->Arg(1000)
    ->Arg(2000)
    ->Arg(5000)
    ->Arg(10000)
    ->Arg(20000)
    ->MinTime(0.2);

}  // namespace
}  // namespace reprieve
