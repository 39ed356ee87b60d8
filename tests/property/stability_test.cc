// Plans followed over time: the same question twice changes nothing, victims that come back cause no new evictions, and
// a closed world comes to rest.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "laboratory.h"
#include "planning.h"
#include "world.h"

namespace reprieve::property {
namespace {

constexpr int kCycles = 50;

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

class Story {
public:
    explicit Story(std::vector<Json> world)
        : config_(without_contradiction(random_config())),
          world_(std::move(world), kNow) {
        setup_.config = read_config(config_);
        setup_.config_text = config_.dump();
    }

    // Plans, checks the plan and follows it.
    Json cycle() {
        setup_.now = world_.now();
        const scenario::Planned planned = scenario::plan_documents(world_.documents(), setup_);
        RC_LOG() << "--- cycle\n" << as_text(world_.documents()) << config_.dump() << "\n" << planned.json << "\n";
        RC_ASSERT(planned.error == "");
        for (const std::string& violation : planned.violations)
            RC_FAIL(violation);
        Json plan = Json::parse(planned.json);
        scenario::Faults faults;
        world_.follow(plan, faults);
        for (const std::string& fault : faults)
            RC_FAIL(fault);
        return plan;
    }

    bool let_victims_go() { return world_.let_victims_go(); }

    void return_victims() {
        scenario::Faults faults;
        world_.happen({{"victimsReturn", true}}, faults);
    }

private:
    Json config_;
    scenario::Setup setup_;
    scenario::World world_;
};

bool binds(const Json& plan) {
    return std::ranges::any_of(plan["placements"], [](const Json& p) { return p["when"] == "now"; });
}

// Nobody is nominated to begin with: what the world was promised by somebody else need not be kept.
WorldTaste fresh() { return {.moving = false}; }

// Whom the first plan promised room costs nobody else anything, unless somebody higher has taken it away since. What
// became possible only by the first plan is no such thing.
void expect_no_second_victims(const Json& first, const Json& second) {
    std::set<std::string> promised;
    for (const Json& placement : first["placements"])
        promised.insert(placement.contains("for") ? placement["for"] : placement["pod"]);
    for (const Json& pod : second["nominationsCleared"]) {
        for (const Json& placement : first["placements"]) {
            if (placement["pod"] == pod) promised.erase(placement.contains("for") ? placement["for"] : pod);
        }
    }
    for (const Json& eviction : second["evictions"])
        RC_ASSERT_FALSE(promised.contains(eviction["for"].get<std::string>()));
}

RC_GTEST_PROP(Stability, WhileVictimsLeaveNobodyElseGoesForTheSame, ()) {
    Story story(random_world({.nodes = 4, .running = 10, .pending = 4}, fresh()));
    const Json first = story.cycle();
    if (first["evictions"].empty()) return;
    expect_no_second_victims(first, story.cycle());
}

RC_GTEST_PROP(Stability, VictimsThatComeBackCauseNoSecondEvictions, ()) {
    Story story(random_world({.nodes = 4, .running = 10, .pending = 4}, fresh()));
    const Json first = story.cycle();
    if (first["evictions"].empty()) return;
    story.let_victims_go();
    story.return_victims();
    expect_no_second_victims(first, story.cycle());
}

RC_GTEST_PROP(Stability, AClosedWorldComesToRest, ()) {
    Story story(random_world({.nodes = 4, .running = 10, .pending = 4}, fresh()));
    int quiet = 0;
    for (int i = 0; i < kCycles && quiet < 2; ++i) {
        const Json plan = story.cycle();
        const bool moved = story.let_victims_go() || binds(plan);
        story.return_victims();
        quiet = moved ? 0 : quiet + 1;
    }
    RC_ASSERT(quiet == 2);
}

}  // namespace
}  // namespace reprieve::property
