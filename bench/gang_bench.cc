// P3, P4 and P10: a gang of 64 whole nodes, hard topology, in rows full of gangs; and one that can never fit.
#include <benchmark/benchmark.h>

#include "actions/cycle.h"
#include "base/check.h"
#include "worlds.h"

namespace reprieve {
namespace {

void GangIntoFullRows(benchmark::State& state) {
    const auto cluster = gpu_rows(state.range(0), 64, state.range(1) != 0);
    const SchedulerConfig config;
    std::size_t victims = 0;
    CertificateStatus status = CertificateStatus::kHeuristic;
    for (auto _ : state) {
        const Plan plan = run_cycle(*cluster, config);
        REPRIEVE_CHECK(plan.placements.size() == 64, "{} placed", plan.placements.size());
        victims = plan.evictions.size();
        status = plan.certificates.front().status;
    }
    state.counters["victims"] = static_cast<double>(victims);
    state.SetLabel(std::string(state.range(1) != 0 ? "mixed pods, " : "whole-node gangs, ") + to_text(status));
}
BENCHMARK(GangIntoFullRows)
    ->Unit(benchmark::kMillisecond)
    ->ArgsProduct({{512, 1024, 2048, 5120, 10240, 20480}, {0, 1}});

void InfeasibleGang(benchmark::State& state) {
    const auto cluster = gpu_rows(state.range(0), 65, false);  // one node more than a row has
    const SchedulerConfig config;
    for (auto _ : state) {
        const Plan plan = run_cycle(*cluster, config);
        REPRIEVE_CHECK(plan.evictions.empty() && plan.unplaced.size() == 65);
        REPRIEVE_CHECK(!plan.certificates.front().binding.empty());
    }
}
BENCHMARK(InfeasibleGang)->Unit(benchmark::kMillisecond)->Arg(1000);

}  // namespace
}  // namespace reprieve
