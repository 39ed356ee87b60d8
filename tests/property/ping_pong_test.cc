// Two queues that both want everything: one takes its share back from the other, and then there is peace.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "audit/audit.h"
#include "explain/closed_world.h"
#include "laboratory.h"

namespace reprieve::property {
namespace {

constexpr int kNodes = 8;
constexpr int kCpus = 8;  // of each node
constexpr int kCycles = 50;

Json pod(const std::string& queue, int gang, int size, int number, const std::string& node) {
    const std::string group = fmt::format("{}-{}", queue, gang);
    Json out{{"apiVersion", "v1"},
             {"kind", "Pod"},
             {"metadata",
              {{"name", fmt::format("{}-{}", group, number)},
               {"namespace", "default"},
               {"creationTimestamp", "2026-01-01T00:00:00Z"},
               {"annotations", {{"scheduling.volcano.sh/queue-name", queue}}}}},
             {"spec", {{"containers", {{{"name", "c"}, {"resources", {{"requests", {{"cpu", "1"}}}}}}}}}},
             {"status", {{"phase", node.empty() ? "Pending" : "Running"}}}};
    if (size > 1) out["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = group;
    if (!node.empty()) out["spec"]["nodeName"] = node;
    return out;
}

Json group(const std::string& queue, int gang, int size) {
    return {{"apiVersion", "scheduling.volcano.sh/v1beta1"},
            {"kind", "PodGroup"},
            {"metadata", {{"name", fmt::format("{}-{}", queue, gang)}, {"namespace", "default"}}},
            {"spec", {{"minMember", size}, {"queue", queue}}}};
}

// `rich` has all of the cluster, `poor` waits for all of it.
std::vector<Json> two_queues(bool written, int ratio, int size) {
    const int total = kNodes * kCpus;
    std::vector<Json> out;
    for (int n = 0; n < kNodes; ++n) {
        out.push_back({{"apiVersion", "v1"},
                       {"kind", "Node"},
                       {"metadata", {{"name", fmt::format("n{}", n)}}},
                       {"status", {{"allocatable", {{"cpu", kCpus}, {"pods", 110}}}}}});
    }
    for (const auto& [name, weight] : {std::pair("rich", ratio), std::pair("poor", 1)}) {
        Json spec{{"weight", weight}};
        if (written) spec["deserved"] = {{"cpu", total / (ratio + 1) * weight}};
        out.push_back({{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                       {"kind", "Queue"},
                       {"metadata", {{"name", name}}},
                       {"spec", spec}});
        for (int i = 0; i < total; ++i) {
            const bool runs = name == std::string("rich");
            if (size > 1 && i % size == 0) out.push_back(group(name, i / size, size));
            out.push_back(pod(name, i / size, size, i % size, runs ? fmt::format("n{}", i / kCpus) : ""));
        }
    }
    return out;
}

int running(const Snapshot& s, const std::string& queue) {
    return static_cast<int>(std::ranges::count_if(s.pods, [&](const PodRow& row) {
        return row.state == PodState::kRunning && s.words->text(s.queues[row.queue].name) == queue;
    }));
}

class PingPong : public testing::TestWithParam<std::tuple<bool, int, int>> {};

TEST_P(PingPong, IsOverAfterTheShareIsBack) {
    const auto [written, ratio, size] = GetParam();
    const auto laboratory = build(two_queues(written, ratio, size));
    const SchedulerConfig config =
        read_config({{"actions", {{{"name", "allocate"}}, {{"name", "gangPreempt"}}, {{"name", "gangReclaim"}}}}});
    ClosedWorld world(laboratory->cluster());
    int last_eviction = -1;
    std::size_t evictions = 0;
    for (int cycle = 0; cycle < kCycles; ++cycle) {
        const Plan plan = world.plan(config);
        const std::vector<Violation> violations = audit(laboratory->cluster(), plan, config);
        ASSERT_TRUE(violations.empty()) << format_violation(violations.front());
        if (!plan.evictions.empty()) last_eviction = cycle;
        evictions += plan.evictions.size();
        world.follow(plan);
        world.let_victims_go();
        world.return_victims();
    }
    const int share = kNodes * kCpus / (ratio + 1);
    EXPECT_EQ(running(world.snapshot(), "poor"), share);
    EXPECT_EQ(running(world.snapshot(), "rich"), kNodes * kCpus - share);
    EXPECT_EQ(evictions, static_cast<std::size_t>(share));  // nobody goes who need not, and nobody twice
    EXPECT_LT(last_eviction, kCycles / 2);
}

INSTANTIATE_TEST_SUITE_P(SharesRatiosAndSizes,
                         PingPong,
                         testing::Combine(testing::Bool(), testing::Values(1, 3), testing::Values(1, 4, 8)),
                         [](const auto& of) {
                             return fmt::format("{}Ratio{}Gangs{}",
                                                std::get<0>(of.param) ? "Written" : "Weights",
                                                std::get<1>(of.param),
                                                std::get<2>(of.param));
                         });

}  // namespace
}  // namespace reprieve::property
