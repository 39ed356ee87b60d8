// Storms: as many preemptors as nodes in one plan, planned, audited and written as JSON, in variants of what decides.
// Each variant prints its times by size, what each preemptor costs, and the growth exponent: the slope of time over
// nodes, both logarithmic (1 is linear). Processor time; the sizes of one variant run one after another, so that the
// exponent is a ratio inside one run.
//
//   storm_bench [--most NODES] [--json FILE] [VARIANT...]     default: all variants, 500 to 20,000 nodes
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "actions/cycle.h"
#include "audit/audit.h"
#include "base/check.h"
#include "manifest/plan_json.h"
#include "state/cluster.h"

namespace reprieve {
namespace {

constexpr std::int64_t kStart = 1'767'225'600;  // 2026-01-01
constexpr std::int64_t kMebi = std::int64_t{1} << 20;

// What differs from the plain storm: nodes of 4 CPU with four pods of 900m, preemptors of 3 CPU.
struct Variant {
    const char* name;
    std::function<void(Cluster&, std::int64_t nodes)> prepare = nullptr;  // further objects
    std::function<void(Cluster&, Pod&, PodSpec&, std::int64_t)> low = nullptr;
    std::function<void(Cluster&, Pod&, PodSpec&, std::int64_t)> high = nullptr;
    bool served = true;  // every preemptor gets a place
};

void add(Cluster& cluster, Object object) {
    const auto done = cluster.add(std::move(object));
    REPRIEVE_CHECK(done.has_value(), "{}", done.error().message);
}

void add_gang(Cluster& cluster, const std::string& name, std::int32_t priority) {
    Gang gang;
    gang.ns = cluster.words().string("default");
    gang.name = cluster.words().string(name);
    gang.min_members = 4;
    gang.priority = priority;
    add(cluster, std::move(gang));
}

LabelSelector selects(Cluster& cluster, const std::string& key, const std::string& value) {
    return {false, {{cluster.words().string(key), SelectorOp::kIn, {cluster.words().string(value)}, 0}}};
}

void label(Cluster& cluster, Pod& pod, const std::string& key, const std::string& value) {
    Labels labels = cluster.words().labels(pod.labels);
    labels.set(cluster.words().string(key), cluster.words().string(value));
    pod.labels = cluster.words().labels(labels);
}

std::vector<Variant> variants() {
    const auto app = [](const std::string& name) {
        return [name](Cluster& c, Pod& pod, PodSpec&, std::int64_t) { label(c, pod, "app", name); };
    };
    std::vector<Variant> all;
    all.push_back({.name = "plain"});
    all.push_back({.name = "gangs",
                   .prepare =
                       [](Cluster& c, std::int64_t nodes) {
                           for (std::int64_t i = 0; i < nodes; ++i)
                               add_gang(c, fmt::format("low-{}", i), 0);
                           for (std::int64_t i = 0; i < (nodes + 3) / 4; ++i)
                               add_gang(c, fmt::format("high-{}", i), 10);
                       },
                   .low =
                       [](Cluster& c, Pod& pod, PodSpec&, std::int64_t i) {
                           pod.group = c.words().string(fmt::format("low-{}", i / 4));
                       },
                   .high =
                       [](Cluster& c, Pod& pod, PodSpec&, std::int64_t i) {
                           pod.group = c.words().string(fmt::format("high-{}", i / 4));
                       }});
    all.push_back({.name = "budgets",
                   .prepare =
                       [](Cluster& c, std::int64_t nodes) {
                           for (std::int64_t i = 0; i <= nodes / 25; ++i) {
                               DisruptionBudget budget;
                               budget.ns = c.words().string("default");
                               budget.name = c.words().string(fmt::format("budget-{}", i));
                               budget.selector = selects(c, "app", fmt::format("low-{}", i));
                               budget.disruptions_allowed = 40;
                               add(c, std::move(budget));
                           }
                       },
                   .low =
                       [](Cluster& c, Pod& pod, PodSpec&, std::int64_t i) {
                           label(c, pod, "app", fmt::format("low-{}", i / 100));
                       }});
    all.push_back({.name = "queues",
                   .prepare =
                       [](Cluster& c, std::int64_t nodes) {
                           for (const char* name : {"red", "blue"}) {
                               Queue queue;
                               queue.name = c.words().string(name);
                               queue.limit.set(kCpu, nodes * 2000);
                               add(c, std::move(queue));
                           }
                       },
                   .low =
                       [](Cluster& c, Pod& pod, PodSpec&, std::int64_t i) {
                           pod.queue = c.words().string((i / 4) % 2 == 0 ? "red" : "blue");
                       },
                   .high =
                       [](Cluster& c, Pod& pod, PodSpec&, std::int64_t i) {
                           pod.queue = c.words().string(i % 2 == 0 ? "red" : "blue");
                       }});
    all.push_back({.name = "shapes", .high = [](Cluster&, Pod&, PodSpec& spec, std::int64_t i) {
                       spec.requests.set(kMemory, (500 + i % 300) * kMebi);
                   }});
    all.push_back({.name = "refused",
                   .high = [](Cluster&, Pod& pod, PodSpec&, std::int64_t) { pod.priority = 0; },
                   .served = false});
    all.push_back({.name = "spread", .low = app("low"), .high = [](Cluster& c, Pod& pod, PodSpec& spec, std::int64_t) {
                       label(c, pod, "app", "high");
                       spec.spread.push_back({.topology_key = c.words().string("zone"),
                                              .selector = selects(c, "app", "high"),
                                              .max_skew = 1});
                   }});
    all.push_back(
        {.name = "affinity", .low = app("low"), .high = [](Cluster& c, Pod& pod, PodSpec& spec, std::int64_t) {
             label(c, pod, "app", "high");
             const StringId ns = c.words().string("default");
             spec.anti_affinity.push_back(
                 {c.words().string("kubernetes.io/hostname"), selects(c, "app", "high"), {ns}, {}});
             spec.affinity.push_back({c.words().string("zone"), selects(c, "app", "low"), {ns}, {}});
         }});
    return all;
}

std::unique_ptr<Cluster> build(const Variant& variant, std::int64_t nodes) {
    auto made = std::make_unique<Cluster>(ClusterOptions{});
    Cluster& c = *made;
    Vocabulary& words = c.words();
    if (variant.prepare) variant.prepare(c, nodes);
    for (std::int64_t n = 0; n < nodes; ++n) {
        Node node;
        node.name = words.string(fmt::format("node-{:05}", n));
        node.labels.set(words.string("kubernetes.io/hostname"), node.name);
        node.labels.set(words.string("zone"), words.string(fmt::format("zone-{}", n % 8)));
        node.allocatable.set(kCpu, 4000);
        node.allocatable.set(kMemory, 32 * 1024 * kMebi);
        node.allocatable.set(kPods, 110);
        add(c, std::move(node));
    }
    const auto add_pod = [&](std::string name, std::int64_t cpu, std::int32_t priority, std::int64_t i, bool low) {
        PodSpec spec;
        spec.requests.set(kCpu, cpu);
        spec.requests.set(kMemory, 500 * kMebi);
        spec.requests.set(kPods, 1);
        spec.scheduler = words.string("reprieve");
        Pod pod;
        pod.ns = words.string("default");
        pod.uid = "uid-" + name;
        pod.name = std::move(name);
        pod.labels = words.labels(Labels());
        pod.priority = priority;
        pod.created = {kStart * 1'000'000};
        if (low) {
            pod.node = words.string(fmt::format("node-{:05}", i / 4));
            pod.phase = PodPhase::kRunning;
            pod.started = {(kStart + i % 3600) * 1'000'000};
        }
        const auto& edit = low ? variant.low : variant.high;
        if (edit) edit(c, pod, spec, i);
        pod.spec = words.spec(std::move(spec));
        add(c, std::move(pod));
    };
    for (std::int64_t i = 0; i < 4 * nodes; ++i)
        add_pod(fmt::format("low-{:06}", i), 900, 0, i, true);
    for (std::int64_t i = 0; i < nodes; ++i)
        add_pod(fmt::format("high-{:06}", i), 3000, 10, i, false);
    const auto done = c.refresh({(kStart + 7200) * 1'000'000});
    REPRIEVE_CHECK(done.has_value());
    return made;
}

double processor_ms() { return 1000.0 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double exponent(const std::vector<std::pair<double, double>>& points) {
    double x = 0;
    double y = 0;
    for (const auto& [nodes, ms] : points) {
        x += std::log(nodes) / static_cast<double>(points.size());
        y += std::log(ms) / static_cast<double>(points.size());
    }
    double above = 0;
    double below = 0;
    for (const auto& [nodes, ms] : points) {
        above += (std::log(nodes) - x) * (std::log(ms) - y);
        below += (std::log(nodes) - x) * (std::log(nodes) - x);
    }
    return below > 0 ? above / below : 0;
}

// What each size took, for bench/plot.py.
void note_json(std::string& json, const char* name, std::int64_t nodes, double us_each) {
    json += fmt::format(
        "{}{{\"name\": \"Storm/{}/{}\", \"us/preemptor\": {:.3f}}}", json.empty() ? "" : ",\n", name, nodes, us_each);
}

void run(const Variant& variant, std::int64_t most, std::string& json) {
    fmt::print("{:10}{:>8}{:>10}{:>10}{:>10}{:>10}{:>14}{:>10}\n",
               variant.name,
               "nodes",
               "plan ms",
               "audit ms",
               "JSON ms",
               "all ms",
               "us/preemptor",
               "evicted");
    std::vector<std::pair<double, double>> points;
    for (const std::int64_t nodes : {500, 1'000, 2'000, 5'000, 10'000, 20'000}) {
        if (nodes > most) break;
        const auto cluster = build(variant, nodes);
        const SchedulerConfig config;
        const double start = processor_ms();
        const Plan plan = run_cycle(*cluster, config);
        const double planned = processor_ms();
        const auto wrong = audit(*cluster, plan, config);
        const double audited = processor_ms();
        const std::string text = plan_to_json(plan);
        const double end = processor_ms();
        REPRIEVE_CHECK(wrong.empty(), "{}", wrong.empty() ? "" : format_violation(wrong.front()));
        REPRIEVE_CHECK(plan.placements.size() == static_cast<std::size_t>(variant.served ? nodes : 0) && !text.empty());
        fmt::print("{:10}{:>8}{:>10.0f}{:>10.0f}{:>10.0f}{:>10.0f}{:>14.1f}{:>10}\n",
                   "",
                   nodes,
                   planned - start,
                   audited - planned,
                   end - audited,
                   end - start,
                   (end - start) * 1000 / static_cast<double>(nodes),
                   plan.evictions.size());
        std::fflush(stdout);
        points.emplace_back(static_cast<double>(nodes), end - start);
        note_json(json, variant.name, nodes, (end - start) * 1000 / static_cast<double>(nodes));
    }
    fmt::print("{:10}grows like nodes^{:.2f}\n\n", "", exponent(points));
}

}  // namespace
}  // namespace reprieve

int main(int argc, char** argv) {
    using namespace reprieve;
    std::int64_t most = 20'000;
    std::vector<std::string_view> chosen;
    std::string json_file;
    std::string json;
    for (int i = 1; i < argc; ++i) {
        const std::string_view arg = argv[i];
        if (arg == "--most" && i + 1 < argc) {
            const std::string_view number = argv[++i];
            std::from_chars(number.data(), number.data() + number.size(), most);
        } else if (arg == "--json" && i + 1 < argc) {
            json_file = argv[++i];
        } else if (!arg.starts_with("--benchmark")) {
            chosen.push_back(arg);
        }
    }
    for (const Variant& variant : variants()) {
        if (chosen.empty() || std::ranges::find(chosen, variant.name) != chosen.end()) run(variant, most, json);
    }
    if (!json_file.empty()) std::ofstream(json_file) << "{\"benchmarks\": [\n" << json << "\n]}\n";
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    fmt::print("largest resident size: {} MB\n", used.ru_maxrss / 1024);
}
