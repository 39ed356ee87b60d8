// One decision on a frozen cluster, under several configurations: what is planned, and how long the processor took.
//
//     decide STATE CONFIG...
//
// STATE is a file of manifests, CONFIG a SchedulerConfig. Prints a line of JSON for each configuration.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "actions/cycle.h"
#include "manifest/config.h"
#include "manifest/load.h"
#include "state/cluster.h"

namespace reprieve {
namespace {

constexpr Time kNow{std::int64_t{1'767'268'800} * 1'000'000};  // 2026-01-01T12:00:00Z
constexpr int kRepeats = 3;                                    // the fastest counts: the first one warms up

int complain(const std::string& what) {
    fmt::print(stderr, "decide: {}\n", what);
    return EXIT_FAILURE;
}

nlohmann::json cost_json(const CostVector& cost) {
    nlohmann::json out = nlohmann::json::object();
    for (const auto& [term, value] : cost)
        out[term] = value;
    return out;
}

nlohmann::json decide(Cluster& cluster, const SchedulerConfig& config) {
    nlohmann::json out;
    std::int64_t least = 0;
    for (int i = 0; i < kRepeats; ++i) {
        const std::clock_t start = std::clock();
        const Plan plan = run_cycle(cluster, config);
        const auto spent = static_cast<std::int64_t>(1e6 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
        least = i == 0 ? spent : std::min(least, spent);
        if (i > 0) continue;
        out["evictions"] = nlohmann::json::array();
        out["placements"] = nlohmann::json::object();
        out["certificates"] = nlohmann::json::array();
        for (const Eviction& eviction : plan.evictions)
            out["evictions"].push_back(eviction.pod);
        for (const Placement& placement : plan.placements)
            out["placements"][placement.pod] = placement.node;
        for (const Certificate& one : plan.certificates)
            out["certificates"].push_back(
                {{"status", to_text(one.status)}, {"cost", cost_json(one.cost)}, {"bound", cost_json(one.bound)}});
    }
    out["us"] = least;
    return out;
}

int run(int count, char** arguments) {
    if (count < 3) return complain("usage: decide STATE CONFIG...");
    Cluster cluster{ClusterOptions{}};
    Loader loader(cluster.words(), [&](Object&& object, const SourceRef&) { cluster.apply(std::move(object)); });
    if (auto loaded = loader.load(arguments[1]); !loaded) return complain(loaded.error().text());
    if (auto done = cluster.refresh(kNow); !done) return complain(done.error().message);
    for (int i = 2; i < count; ++i) {
        std::ifstream in(arguments[i]);
        std::ostringstream text;
        text << in.rdbuf();
        const auto config = parse_config(text.str(), arguments[i]);
        if (!config) return complain(config.error().message);
        fmt::print("{}\n", decide(cluster, *config).dump());
    }
    return EXIT_SUCCESS;
}

}  // namespace
}  // namespace reprieve

int main(int count, char** arguments) { return reprieve::run(count, arguments); }
