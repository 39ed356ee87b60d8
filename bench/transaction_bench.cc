// P8: evict + restore and place + unplace, without affinity.
#include <benchmark/benchmark.h>

#include "state/transaction.h"
#include "worlds.h"

namespace reprieve {
namespace {

// The journal keeps every op; undoing them all is not what is measured.
void clean_now_and_then(benchmark::State& state, Transaction& tx, Transaction::Checkpoint mark) {
    if (tx.checkpoint() < 16'384) return;
    state.PauseTiming();
    tx.rollback(mark);
    state.ResumeTiming();
}

void EvictRestore(benchmark::State& state) {
    const auto cluster = preemption_basic(1000, 1);
    Transaction tx(cluster->snapshot());
    const PodId pod = cluster->find_pod(cluster->words().string("default"), "low-00500-1");
    const auto mark = tx.checkpoint();
    for (auto _ : state) {
        tx.evict(pod);
        tx.restore(pod);
        clean_now_and_then(state, tx, mark);
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
        clean_now_and_then(state, tx, mark);
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
