// P8: evict + restore and place + unplace, without affinity.
#include <benchmark/benchmark.h>

#include "state/transaction.h"
#include "worlds.h"

namespace reprieve {
namespace {

void EvictRestore(benchmark::State& state) {
    const auto cluster = preemption_basic(1000, 1);
    Transaction tx(cluster->snapshot());
    const PodId pod = cluster->find_pod(cluster->words().string("default"), "low-00500-1");
    const auto mark = tx.checkpoint();
    for (auto _ : state) {
        tx.evict(pod);
        tx.restore(pod);
        if (tx.checkpoint() > 4096) tx.rollback(mark);
    }
}
BENCHMARK(EvictRestore);

void PlaceUnplace(benchmark::State& state) {
    const auto cluster = preemption_basic(1000, 1);
    Transaction tx(cluster->snapshot());
    const PodId pod = cluster->find_pod(cluster->words().string("default"), "high-00000");
    const NodeId node = cluster->snapshot().nodes_by_name[500];
    const auto mark = tx.checkpoint();
    for (auto _ : state) {
        tx.place(pod, node, {});
        tx.unplace(pod);
        if (tx.checkpoint() > 4096) tx.rollback(mark);
    }
}
BENCHMARK(PlaceUnplace);

void EvictRollback(benchmark::State& state) {
    const auto cluster = preemption_basic(1000, 1);
    Transaction tx(cluster->snapshot());
    const PodId pod = cluster->find_pod(cluster->words().string("default"), "low-00500-1");
    const auto mark = tx.checkpoint();
    for (auto _ : state) {
        tx.evict(pod);
        tx.rollback(mark);
    }
}
BENCHMARK(EvictRollback);

}  // namespace
}  // namespace reprieve
