// Plans followed over time: the same question twice changes nothing, victims that come back cause no new evictions, and
// a closed world comes to rest.
#include "explain/stability.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "audit/audit.h"
#include "laboratory.h"
#include "manifest/plan_json.h"

namespace reprieve::property {
namespace {

// Who lets priority cross queues and shares be reclaimed at the same time has asked for two answers to one question:
// what one action takes by priority, the other takes back by share.
Json without_contradiction(Json config) {
    Json& actions = config["actions"];
    if (std::ranges::none_of(actions, [](const Json& action) { return action["name"] == "gangReclaim"; }))
        return config;
    for (Json& action : actions) {
        if (action.contains("args")) action["args"].erase("crossQueue");
    }
    return config;
}

// Nobody is nominated to begin with: what the world was promised by somebody else need not be kept.
WorldTaste fresh() { return {.moving = false}; }

RC_GTEST_PROP(Stability, APlanLeadsToNoOther, ()) {
    const std::vector<Json> world = random_world({.nodes = 4, .running = 10, .pending = 4}, fresh());
    const Json config = without_contradiction(random_config());
    RC_LOG() << as_text(world) << config.dump() << "\n";
    const SchedulerConfig settings = read_config(config);
    const auto laboratory = build(world);
    const StabilityReport report =
        check_stability(laboratory->cluster(), settings, {.watch = [&](const Cluster& cluster, const Plan& plan) {
                            RC_LOG() << plan_to_json(plan);
                            for (const Violation& violation : audit(cluster, plan, settings))
                                RC_FAIL(format_violation(violation));
                        }});
    for (const std::string& violation : report.violations)
        RC_FAIL(violation);
}

// The world is as it was: the next question gets the answer of the first.
RC_GTEST_PROP(Stability, LookingAheadChangesNothing, ()) {
    const auto laboratory = build(random_world({.nodes = 4, .running = 10, .pending = 4}));
    const SchedulerConfig settings = read_config(random_config());
    const std::string before = laboratory->plan(settings);
    const std::string rooms = numbers(laboratory->cluster());
    static_cast<void>(check_stability(laboratory->cluster(), settings, {.cycles = 3, .watch = {}}));
    RC_ASSERT(difference(rooms, numbers(laboratory->cluster())) == "");
    RC_ASSERT(difference(before, laboratory->plan(settings)) == "");
}

}  // namespace
}  // namespace reprieve::property
