#include "small_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace reprieve::property {
namespace {

constexpr int kMostNodes = 4;
constexpr int kMostPodsOnANode = 6;

SmallPod random_small_pod(const std::string& name, int node) {
    return {.name = name,
            .node = node,
            .priority = draw(0, 4) * 5 - 5,
            .cpu = draw(0, 3),
            .memory = draw(0, 3),
            .start = draw(0, 5),
            .app = std::string(1, static_cast<char>('a' + draw(0, 2)))};
}

Json document_of(const SmallPod& pod, bool running) {
    Json out{
        {"apiVersion", "v1"},
        {"kind", "Pod"},
        {"metadata", {{"name", pod.name}, {"labels", {{"app", pod.app}}}}},
        {"spec",
         {{"priority", pod.priority},
          {"containers",
           Json::array({{{"name", "c"},
                         {"resources",
                          {{"requests",
                            {{"cpu", std::to_string(pod.cpu)}, {"memory", fmt::format("{}Gi", pod.memory)}}}}}}})}}}};
    if (running) {
        out["spec"]["nodeName"] = fmt::format("n{}", pod.node);
        out["status"] = {{"phase", "Running"}, {"startTime", fmt::format("2026-01-01T{:02}:00:00Z", pod.start)}};
    }
    return out;
}

}  // namespace

SmallWorld random_small_world(bool roomy) {
    const int most_free = roomy ? 8 : 1;
    SmallWorld world;
    const int nodes = draw(1, kMostNodes);
    for (int n = 0; n < nodes; ++n) {
        int cpu = 0;
        int memory = 0;
        const int pods = draw(0, kMostPodsOnANode);
        for (int i = 0; i < pods; ++i) {
            world.pods.push_back(random_small_pod(fmt::format("p{}-{}", n, i), n));
            cpu += world.pods.back().cpu;
            memory += world.pods.back().memory;
        }
        world.nodes.emplace_back(cpu + draw(0, most_free), memory + draw(0, most_free));
    }
    const int budgets = draw(0, 2);
    for (int b = 0; b < budgets; ++b)
        world.budgets.push_back({.app = std::string(1, static_cast<char>('a' + draw(0, 2))), .allowed = draw(0, 2)});
    world.newcomer = random_small_pod("newcomer", 0);
    world.newcomer.priority = draw(1, 4) * 5;
    world.newcomer.cpu = draw(1, 6);
    world.newcomer.memory = draw(0, 6);
    return world;
}

std::vector<Json> SmallWorld::documents() const {
    std::vector<Json> out;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
        const Json allocatable{
            {"cpu", std::to_string(nodes[n].first)}, {"memory", fmt::format("{}Gi", nodes[n].second)}, {"pods", "110"}};
        out.push_back({{"apiVersion", "v1"},
                       {"kind", "Node"},
                       {"metadata", {{"name", fmt::format("n{}", n)}}},
                       {"status", {{"allocatable", allocatable}}}});
    }
    for (const SmallPod& pod : pods)
        out.push_back(document_of(pod, true));
    for (std::size_t b = 0; b < budgets.size(); ++b) {
        out.push_back({{"apiVersion", "policy/v1"},
                       {"kind", "PodDisruptionBudget"},
                       {"metadata", {{"name", fmt::format("b{}", b)}}},
                       {"spec", {{"selector", {{"matchLabels", {{"app", budgets[b].app}}}}}}},
                       {"status", {{"disruptionsAllowed", budgets[b].allowed}}}});
    }
    out.push_back(document_of(newcomer, false));
    return out;
}

bool SmallWorld::fits(int node, const std::vector<bool>& gone) const {
    auto [cpu, memory] = nodes[static_cast<std::size_t>(node)];
    for (std::size_t i = 0; i < pods.size(); ++i) {
        if (pods[i].node != node || gone[i]) continue;
        cpu -= pods[i].cpu;
        memory -= pods[i].memory;
    }
    return newcomer.cpu <= cpu && (newcomer.memory == 0 || newcomer.memory <= memory);
}

bool SmallWorld::fits_somewhere() const {
    const std::vector<bool> nobody(pods.size(), false);
    for (int node = 0; node < static_cast<int>(nodes.size()); ++node) {
        if (fits(node, nobody)) return true;
    }
    return false;
}

std::vector<std::size_t> Oracle::candidates(int node) const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < world_.pods.size(); ++i) {
        if (world_.pods[i].node == node && world_.pods[i].priority < world_.newcomer.priority) out.push_back(i);
    }
    std::ranges::sort(out, [&](std::size_t a, std::size_t b) {
        const SmallPod& x = world_.pods[a];
        const SmallPod& y = world_.pods[b];
        if (x.priority != y.priority) return x.priority > y.priority;
        if (x.start != y.start) return x.start < y.start;
        return x.name < y.name;
    });
    return out;
}

std::vector<bool> Oracle::breakers(const std::vector<std::size_t>& candidates) const {
    std::vector<bool> out(world_.pods.size(), false);
    std::vector<int> left;
    for (const SmallBudget& budget : world_.budgets)
        left.push_back(budget.allowed);
    for (std::size_t i : candidates) {
        for (std::size_t b = 0; b < world_.budgets.size(); ++b) {
            if (world_.budgets[b].app != world_.pods[i].app) continue;
            if (--left[b] < 0) out[i] = true;
        }
    }
    return out;
}

SmallCost Oracle::cost(int node, const std::vector<bool>& gone) const {
    const std::vector<bool> breaks = breakers(candidates(node));
    SmallCost out{.max_priority = std::numeric_limits<std::int64_t>::min()};
    for (std::size_t i = 0; i < gone.size(); ++i) {
        if (!gone[i]) continue;
        const SmallPod& pod = world_.pods[i];
        out.violations += breaks[i] ? 1 : 0;
        out.priority_sum += pod.priority + (std::int64_t{1} << 31);
        ++out.pods;
        // Of the most important victims the earliest start counts.
        if (pod.priority > out.max_priority || (pod.priority == out.max_priority && -pod.start > out.latest_start))
            out.latest_start = -pod.start;
        out.max_priority = std::max<std::int64_t>(out.max_priority, pod.priority);
    }
    return out;
}

std::optional<Sentence> Oracle::cheapest() const {
    std::optional<Sentence> best;
    const std::vector<bool> nobody(world_.pods.size(), false);
    for (int node = 0; node < static_cast<int>(world_.nodes.size()); ++node) {
        const std::vector<std::size_t> list = candidates(node);
        for (unsigned set = 1; set < 1U << list.size(); ++set) {
            std::vector<bool> gone = nobody;
            for (std::size_t k = 0; k < list.size(); ++k)
                gone[list[k]] = (set >> k & 1U) != 0;
            if (!world_.fits(node, gone)) continue;
            const SmallCost price = cost(node, gone);
            if (!best || price < best->cost) best = Sentence{node, gone, price};
        }
    }
    return best;
}

std::optional<Sentence> Oracle::literal() const {
    std::optional<Sentence> best;
    for (int node = 0; node < static_cast<int>(world_.nodes.size()); ++node) {
        const std::vector<std::size_t> list = candidates(node);
        std::vector<bool> gone(world_.pods.size(), false);
        for (std::size_t i : list)
            gone[i] = true;
        if (list.empty() || !world_.fits(node, gone)) continue;
        const std::vector<bool> breaks = breakers(list);
        for (bool violating : {true, false}) {
            for (std::size_t i : list) {
                if (breaks[i] != violating) continue;
                gone[i] = false;
                if (!world_.fits(node, gone)) gone[i] = true;
            }
        }
        const SmallCost price = cost(node, gone);
        if (!best || price < best->cost) best = Sentence{node, gone, price};
    }
    return best;
}

}  // namespace reprieve::property
