// The order of facts does not matter: whatever is heard of first, the same is decided, and the same is said about it.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "actions/cycle.h"
#include "claims_world.h"
#include "crowded_world.h"
#include "explain/explain.h"
#include "laboratory.h"
#include "manifest/plan_json.h"
#include "quota_world.h"
#include "text/explanation_text.h"

namespace reprieve::property {
namespace {

std::vector<Json> in_another_order(std::vector<Json> world) {
    std::mt19937 dice(static_cast<unsigned>(draw(0, 1'000'000)));
    std::ranges::shuffle(world, dice);
    return world;
}

void check_order(const std::vector<Json>& world, const Json& config) {
    const SchedulerConfig settings = read_config(config);
    const std::string first = build(world)->plan(settings);
    RC_LOG() << (world.size() < 100 ? as_text(world) : "a crowd") << config.dump() << "\n";
    RC_ASSERT(difference(build(in_another_order(world))->plan(settings), first) == "");
    std::vector<Json> reversed(world.rbegin(), world.rend());
    RC_ASSERT(difference(build(reversed)->plan(settings), first) == "");
}

// What is said about every pod and gang.
std::string all_answers(const std::vector<Json>& world, const SchedulerConfig& settings) {
    const auto lab = build(world);
    Cluster& cluster = lab->cluster();
    const Plan plan = run_cycle(cluster, settings);
    const Snapshot& s = cluster.snapshot();
    std::set<std::pair<std::string, bool>> names;
    for (PodId pod : IdRange<PodId>(s.pods.size())) {
        if (s.pods[pod].state != PodState::kAbsent) names.emplace(s.pod_name(pod), false);
    }
    for (GangId gang : IdRange<GangId>(s.gangs.size())) {
        if (s.gangs[gang].alive) names.emplace(s.gang_name(gang), true);
    }
    std::string out;
    for (const auto& [name, gang] : names) {
        const auto subject = find_subject(plan, &cluster, name, gang);
        RC_ASSERT(subject.has_value());
        Retrials trials(plan, cluster, settings, 3);
        out += explanation_to_text(explain(plan, &trials, *subject), {});
    }
    return out;
}

RC_GTEST_PROP(Order, OfAnyFacts, ()) { check_order(random_world(), random_config()); }

RC_GTEST_PROP(Order, OfFactsWithManyTies, ()) {
    std::vector<Json> world = random_world({.nodes = 4, .running = 24, .pending = 8});
    add_ties(world);
    Json config = random_config();
    add_short_searches(config);
    if (rarely(4)) config["actions"].push_back({{"name", "queueBalance"}});
    check_order(world, config);
}

RC_GTEST_PROP(Order, OfACrowd, ()) {
    Json config = random_config();
    if (!rarely(3)) config["actions"] = Json::array({{{"name", "preempt"}}, {{"name", "gangPreempt"}}});
    add_short_searches(config);
    check_order(random_crowd(), config);
}

RC_GTEST_PROP(Order, OfQuotas, ()) {
    Json config = random_config();
    config["actions"].push_back({{"name", "jobPreempt"}});
    if (rarely(2)) config["actions"].push_back({{"name", "revoke"}, {"args", {{"delayEvictTime", "0s"}}}});
    if (rarely(2)) config["plugins"]["args"]["quota"]["limit"] = "runtime";
    check_order(random_quota_world().documents(), config);
}

RC_GTEST_PROP(Order, OfClaims, ()) { check_order(random_claims_world(), random_config()); }

RC_GTEST_PROP(Order, OfWhatIsSaid, ()) {
    std::vector<Json> world = random_world({.nodes = 4, .running = 10, .pending = 4});
    add_ties(world);
    const Json config = random_config();
    const SchedulerConfig settings = read_config(config);
    RC_LOG() << as_text(world) << config.dump() << "\n";
    const std::string first = all_answers(world, settings);
    RC_ASSERT(difference(all_answers(in_another_order(world), settings), first) == "");
}

}  // namespace
}  // namespace reprieve::property
