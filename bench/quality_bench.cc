// P9: what the victims cost, over the least they could cost, on nearly full GPU clusters; with the search (improve) and
// with the literal algorithms it starts from. One row is one kind of state and gang, over several states drawn.
//
// The ratio is that of the first term in which a plan's cost differs from the optimum. The optimum is the plan's own
// cost where its certificate says so, else CBC's; states that CBC does not solve in time are left out and counted.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>
#include <vector>

#include "actions/cycle.h"
#include "base/check.h"
#include "generate.h"
#include "manifest/decode.h"
#include "optimum.h"

namespace reprieve {
namespace {

using oracle::Price;

constexpr std::uint64_t kStates = 9;
constexpr int kSolverSeconds = 5;

std::unique_ptr<Cluster> cluster_of(const oracle::Instance& instance) {
    auto cluster = std::make_unique<Cluster>(ClusterOptions{});
    Decoder decoder(cluster->words());
    for (const oracle::Json& document : instance.documents()) {
        auto object = decoder.decode(document.dump());
        REPRIEVE_CHECK(object && *object, "{}", document.dump());
        cluster->apply(std::move(**object));
    }
    const auto done = cluster->refresh(Time{std::int64_t{1'767'268'800} * 1'000'000});
    REPRIEVE_CHECK(done, "{}", done.error().message);
    return cluster;
}

SchedulerConfig config_of(bool improve) {
    SchedulerConfig config;
    config.actions = {{.kind = ActionKind::kAllocate}, {.kind = ActionKind::kGangPreempt, .improve = improve}};
    return config;
}

struct Answer {
    std::optional<Price> price;
    bool proven = false;
    double milliseconds = 0;  // of the processor, so that neighbours on the machine do not count
};

Answer answer_of(const oracle::Instance& instance, bool improve) {
    const auto cluster = cluster_of(instance);
    const SchedulerConfig config = config_of(improve);
    const std::clock_t start = std::clock();
    const Plan plan = run_cycle(*cluster, config);
    Answer out;
    out.milliseconds = 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (plan.evictions.empty()) return out;
    out.price.emplace();
    for (const auto& [term, value] : plan.certificates.front().cost)
        out.price->push_back(value);
    out.proven = plan.certificates.front().status == CertificateStatus::kOptimal;
    return out;
}

double ratio(const Price& price, const Price& optimum) {
    for (std::size_t i = 0; i < price.size(); ++i) {
        if (price[i] == optimum[i]) continue;
        // A term that could be had for nothing: each unit counts as one more.
        const double least = optimum[i] > 0 ? static_cast<double>(optimum[i]) : 1.0;
        return 1.0 + static_cast<double>(price[i] - optimum[i]) / least;
    }
    return 1.0;
}

double quantile(std::vector<double> values, double q) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

struct Sample {
    std::vector<double> searched;
    std::vector<double> literal;
    std::vector<double> plan_ms;         // to a plan, by the literal algorithms
    std::vector<double> certificate_ms;  // to a plan with its certificate
    double proven = 0;
    double unsolved = 0;
    double refused = 0;
};

void add(Sample& sample, const oracle::Instance& instance) {
    const Answer searched = answer_of(instance, true);
    if (!searched.price) {
        sample.refused += 1;
        return;
    }
    sample.certificate_ms.push_back(searched.milliseconds);
    const Answer literal = answer_of(instance, false);
    sample.plan_ms.push_back(literal.milliseconds);
    Price optimum = *searched.price;
    if (!searched.proven) {
        const oracle::Optimum solved = oracle::ask_solver(instance, kSolverSeconds);
        if (solved.found != oracle::Found::kOptimum) {
            sample.unsolved += 1;
            return;
        }
        optimum = solved.price;
    }
    sample.proven += searched.proven ? 1 : 0;
    sample.searched.push_back(ratio(*searched.price, optimum));
    if (literal.price) sample.literal.push_back(ratio(*literal.price, optimum));
}

// Hosts, members, GPUs each, highest tier (0: anywhere), small pods scattered instead of packed.
void VictimQuality(benchmark::State& state) {
    const oracle::MediumShape shape{.hosts = static_cast<int>(state.range(0)),
                                    .members = static_cast<int>(state.range(1)),
                                    .gpus_each = static_cast<int>(state.range(2)),
                                    .tier = static_cast<int>(state.range(3)),
                                    .scattered = state.range(4) != 0};
    Sample sample;
    for (auto _ : state) {
        for (std::uint64_t i = 0; i < kStates; ++i)
            add(sample, oracle::medium_instance(shape, i));
    }
    if (sample.searched.empty()) {
        state.SkipWithError("no state of this kind has a plan whose optimum is known");
        return;
    }
    state.counters["median"] = quantile(sample.searched, 0.5);
    state.counters["p90"] = quantile(sample.searched, 0.9);
    state.counters["literal_median"] = quantile(sample.literal, 0.5);
    state.counters["literal_p90"] = quantile(sample.literal, 0.9);
    state.counters["states"] = static_cast<double>(sample.searched.size());
    state.counters["proven"] = sample.proven;
    state.counters["unsolved"] = sample.unsolved;
    state.counters["refused"] = sample.refused;
    state.counters["plan_ms"] = quantile(sample.plan_ms, 0.5);
    state.counters["certificate_ms"] = quantile(sample.certificate_ms, 0.5);
    state.counters["certificate_ms_p90"] = quantile(sample.certificate_ms, 0.9);
}
BENCHMARK(VictimQuality)
    ->Iterations(1)
    ->Unit(benchmark::kSecond)
    ->ArgNames({"hosts", "members", "gpus", "tier", "scattered"})
    ->Args({800, 4, 8, 1, 0})
    ->Args({800, 16, 8, 2, 0})
    ->Args({800, 32, 4, 2, 0})
    ->Args({800, 64, 8, 0, 0})
    ->Args({800, 16, 8, 2, 1})
    ->Args({800, 32, 4, 2, 1})
    ->Args({800, 64, 8, 0, 1});

}  // namespace
}  // namespace reprieve
