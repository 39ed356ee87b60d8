// Plans followed over time: the same question twice changes nothing, victims that come back cause no new evictions, and
// a closed world comes to rest.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "story.h"

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

// Nobody is nominated to begin with: what the world was promised by somebody else need not be kept.
WorldTaste fresh() { return {.moving = false}; }

Story random_story() {
    return Story(random_world({.nodes = 4, .running = 10, .pending = 4}, fresh()),
                 without_contradiction(random_config()));
}

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
    Story story = random_story();
    const Json first = story.cycle();
    if (first["evictions"].empty()) return;
    expect_no_second_victims(first, story.cycle());
}

RC_GTEST_PROP(Stability, VictimsThatComeBackCauseNoSecondEvictions, ()) {
    Story story = random_story();
    const Json first = story.cycle();
    if (first["evictions"].empty()) return;
    story.let_victims_go();
    story.return_victims();
    expect_no_second_victims(first, story.cycle());
}

RC_GTEST_PROP(Stability, AClosedWorldComesToRest, ()) {
    Story story = random_story();
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
