#include "worlds.h"

#include <fmt/format.h>

#include "base/check.h"

namespace reprieve {
namespace {

constexpr std::int64_t kGibi = std::int64_t{1} << 30;
constexpr std::int64_t kStart = 1'767'225'600;  // 2026-01-01

void add(Cluster& cluster, Object object) {
    const auto done = cluster.add(std::move(object));
    REPRIEVE_CHECK(done.has_value(), "{}", done.error().message);
}

}  // namespace

void add_node(
    Cluster& cluster, const std::string& name, std::int64_t cpu_milli, std::int64_t memory, std::int64_t gpus) {
    Vocabulary& words = cluster.words();
    Node node;
    node.name = words.string(name);
    node.labels.set(words.string("kubernetes.io/hostname"), node.name);
    node.allocatable.set(kCpu, cpu_milli);
    node.allocatable.set(kMemory, memory);
    node.allocatable.set(kPods, 110);
    if (gpus > 0) {
        node.device_dim = words.dimension("nvidia.com/gpu");
        node.allocatable.set(node.device_dim, gpus);
        for (std::int32_t i = 0; i < gpus; ++i)
            node.devices.push_back({.index = i});
    }
    add(cluster, std::move(node));
}

void add_pod(Cluster& cluster, const PodShape& shape) {
    Vocabulary& words = cluster.words();
    PodSpec spec;
    spec.requests.set(kCpu, shape.cpu_milli);
    spec.requests.set(kMemory, shape.memory);
    spec.requests.set(kPods, 1);
    spec.score_cpu = shape.cpu_milli;
    spec.score_memory = shape.memory;
    spec.scheduler = words.string("reprieve");
    if (shape.gpus > 0) {
        spec.devices.whole_dim = words.dimension("nvidia.com/gpu");
        spec.devices.whole = static_cast<std::int32_t>(shape.gpus);
        spec.requests.set(spec.devices.whole_dim, shape.gpus);
    }
    Pod pod;
    pod.ns = words.string("default");
    pod.name = shape.name;
    pod.uid = "uid-" + shape.name;
    pod.labels = words.labels({});
    pod.spec = words.spec(std::move(spec));
    pod.priority = shape.priority;
    pod.created = {kStart * 1'000'000};
    if (!shape.group.empty()) pod.group = words.string(shape.group);
    if (!shape.node.empty()) {
        pod.node = words.string(shape.node);
        pod.phase = PodPhase::kRunning;
        pod.started = {(kStart + shape.started_s) * 1'000'000};
    }
    add(cluster, std::move(pod));
}

void add_gang(
    Cluster& cluster, const std::string& name, std::int32_t min, std::int32_t priority, std::int32_t hard_tier) {
    Vocabulary& words = cluster.words();
    Gang gang;
    gang.ns = words.string("default");
    gang.name = words.string(name);
    gang.min_members = min;
    gang.priority = priority;
    if (hard_tier > 0) gang.topology = TopologyRule{.hard = true, .highest_tier = hard_tier};
    add(cluster, std::move(gang));
}

std::unique_ptr<Cluster> preemption_basic(std::int64_t nodes, std::int64_t preemptors) {
    auto cluster = std::make_unique<Cluster>(ClusterOptions{});
    for (std::int64_t n = 0; n < nodes; ++n) {
        const std::string node = fmt::format("node-{:05}", n);
        add_node(*cluster, node, 4000, 32 * kGibi);
        for (std::int64_t p = 0; p < 4; ++p) {
            add_pod(*cluster,
                    {.name = fmt::format("low-{:05}-{}", n, p),
                     .cpu_milli = 900,
                     .memory = 500 << 20U,
                     .priority = 0,
                     .node = node,
                     .started_s = (n * 4 + p) % 3600});
        }
    }
    for (std::int64_t p = 0; p < preemptors; ++p) {
        add_pod(*cluster,
                {.name = fmt::format("high-{:05}", p), .cpu_milli = 3000, .memory = 500 << 20U, .priority = 10});
    }
    const auto done = cluster->refresh({(kStart + 7200) * 1'000'000});
    REPRIEVE_CHECK(done.has_value());
    return cluster;
}

std::unique_ptr<Cluster> gpu_rows(std::int64_t nodes, std::int64_t members, bool mixed) {
    constexpr std::int64_t kRack = 16;
    constexpr std::int64_t kRow = 64;
    auto cluster = std::make_unique<Cluster>(ClusterOptions{});
    Vocabulary& words = cluster->words();
    const auto node_name = [](std::int64_t n) { return fmt::format("node-{:05}", n); };
    for (std::int64_t n = 0; n < nodes; ++n)
        add_node(*cluster, node_name(n), 96'000, 1024 * kGibi, 8);
    for (std::int64_t rack = 0; rack * kRack < nodes; ++rack) {
        HyperNode hyper{.name = words.string(fmt::format("rack-{:04}", rack)), .tier = 1};
        for (std::int64_t n = rack * kRack; n < std::min(nodes, (rack + 1) * kRack); ++n)
            hyper.members.push_back({.is_node = true, .text = node_name(n)});
        add(*cluster, std::move(hyper));
    }
    for (std::int64_t row = 0; row * kRow < nodes; ++row) {
        HyperNode hyper{.name = words.string(fmt::format("row-{:03}", row)), .tier = 2};
        for (std::int64_t rack = row * (kRow / kRack); rack < (row + 1) * (kRow / kRack) && rack * kRack < nodes;
             ++rack) {
            hyper.members.push_back({.is_node = false, .text = fmt::format("rack-{:04}", rack)});
        }
        add(*cluster, std::move(hyper));
    }
    // A fixed sequence that looks random: the same world on every machine.
    std::uint64_t state = 42;
    const auto draw = [&](std::uint64_t below) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return (state >> 33U) % below;
    };
    std::int64_t gang = 0;
    for (std::int64_t n = 0; n < nodes; ++gang) {
        const std::string name = fmt::format("gang-{:05}", gang);
        const auto priority = static_cast<std::int32_t>(10 * (1 + draw(3)));
        if (mixed) {
            std::int64_t left = 8;
            std::int64_t pod = 0;
            add_gang(*cluster, name, 1, priority);
            while (left > 0) {
                const std::int64_t gpus = std::min<std::int64_t>(left, static_cast<std::int64_t>(1 + draw(8)));
                add_pod(*cluster,
                        {.name = fmt::format("{}-{}", name, pod++),
                         .cpu_milli = gpus * 10'000,
                         .memory = gpus * 64 * kGibi,
                         .gpus = gpus,
                         .priority = priority,
                         .node = node_name(n),
                         .group = name,
                         .started_s = static_cast<std::int64_t>(draw(3600))});
                left -= gpus;
            }
            ++n;
        } else {
            const auto size = std::min<std::int64_t>(nodes - n, std::int64_t{1} << draw(4));
            add_gang(*cluster, name, static_cast<std::int32_t>(size), priority);
            const auto started = static_cast<std::int64_t>(draw(3600));
            for (std::int64_t i = 0; i < size; ++i, ++n) {
                add_pod(*cluster,
                        {.name = fmt::format("{}-{}", name, i),
                         .cpu_milli = 80'000,
                         .memory = 512 * kGibi,
                         .gpus = 8,
                         .priority = priority,
                         .node = node_name(n),
                         .group = name,
                         .started_s = started});
            }
        }
    }
    add_gang(*cluster, "big", static_cast<std::int32_t>(members), 1000, 2);
    for (std::int64_t i = 0; i < members; ++i) {
        add_pod(*cluster,
                {.name = fmt::format("big-{:03}", i),
                 .cpu_milli = 80'000,
                 .memory = 512 * kGibi,
                 .gpus = 8,
                 .priority = 1000,
                 .group = "big"});
    }
    const auto done = cluster->refresh({(kStart + 7200) * 1'000'000});
    REPRIEVE_CHECK(done.has_value(), "{}", done.error().message);
    return cluster;
}

}  // namespace reprieve
