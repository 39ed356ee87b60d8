// Margins are true: whoever makes the smallest change that an explanation names, in the manifests, spares the pod; with
// one less it goes.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "actions/cycle.h"
#include "explain/explain.h"
#include "explain/explanation_json.h"
#include "laboratory.h"

namespace reprieve::property {
namespace {

constexpr std::int64_t kMostPlans = 200;

std::string name_of(const Json& document) {
    return document["metadata"].value("namespace", "default") + "/" + document["metadata"].value("name", "");
}

Json* find(std::vector<Json>& world, const std::string& kind, const std::string& name) {
    const auto at = std::ranges::find_if(world, [&](const Json& d) { return d["kind"] == kind && name_of(d) == name; });
    return at == world.end() ? nullptr : &*at;
}

void set_group_priority(std::vector<Json>& world, const std::string& name, std::int64_t value) {
    Json* group = find(world, "PodGroup", name);
    RC_ASSERT(group != nullptr);
    (*group)["spec"].erase("priority");
    (*group)["spec"]["priorityClassName"] = "as-asked";
    world.push_back({{"apiVersion", "scheduling.k8s.io/v1"},
                     {"kind", "PriorityClass"},
                     {"metadata", {{"name", "as-asked"}}},
                     {"value", value}});
}

// The manifests with that one thing different.
std::vector<Json> changed(std::vector<Json> world, const Remedy& remedy, std::int64_t value) {
    Json* pod = find(world, "Pod", remedy.of);
    if (pod == nullptr) {
        set_group_priority(world, remedy.of, value);
        return world;
    }
    Json& annotations = (*pod)["metadata"]["annotations"];
    switch (remedy.lever) {
        case Lever::kPriority:
            (*pod)["spec"]["priority"] = value;
            break;
        case Lever::kMinRuntime:
            annotations["reprieve.dev/min-runtime"] = fmt::format("{}s", value);
            break;
        case Lever::kCheckpointAge:
            annotations["reprieve.dev/last-checkpoint"] = format_time(kNow + Duration{-value * 1'000'000});
            break;
        case Lever::kNode:
            (*pod)["spec"]["nodeName"] = remedy.nodes.front();
            if (annotations.is_object()) annotations.erase("reprieve.dev/devices");
            break;
    }
    if (annotations.is_null()) (*pod)["metadata"].erase("annotations");
    return world;
}

bool goes(const std::vector<Json>& world, const SchedulerConfig& config, const std::string& pod) {
    const auto laboratory = build(world);
    const Plan plan = run_cycle(laboratory->cluster(), config);
    return std::ranges::find(plan.evictions, pod, &Eviction::pod) != plan.evictions.end();
}

void expect_true(const std::vector<Json>& world,
                 const SchedulerConfig& config,
                 const std::string& pod,
                 const Remedy& remedy) {
    RC_ASSERT_FALSE(goes(changed(world, remedy, remedy.to), config, pod));
    if (remedy.lever == Lever::kNode) return;
    const std::int64_t one_less = remedy.to > remedy.from ? remedy.to - 1 : remedy.to + 1;
    RC_ASSERT(goes(changed(world, remedy, one_less), config, pod));
}

RC_GTEST_PROP(Margin, TheSmallestChangeSparesAndOneLessDoesNot, ()) {
    const std::vector<Json> world = random_world({.nodes = 3, .running = 8, .pending = 3});
    const Json settings = random_config();
    RC_LOG() << as_text(world) << settings.dump() << "\n";
    const SchedulerConfig config = read_config(settings);
    const auto laboratory = build(world);
    const Plan plan = run_cycle(laboratory->cluster(), config);
    for (const Eviction& eviction : plan.evictions) {
        Retrials trials(plan, laboratory->cluster(), config, kMostPlans);
        const Explanation explanation =
            explain(plan, &trials, {.name = eviction.pod, .gang = false, .pods = {eviction.pod}});
        RC_LOG() << explanation_to_json(explanation);
        RC_ASSERT(explanation.outcome == Outcome::kEvicted);
        RC_ASSERT(explanation.evictions.size() == 1U);
        RC_ASSERT(explanation.evictions.front().margin.has_value());
        for (const Remedy& remedy : explanation.evictions.front().margin->remedies)
            expect_true(world, config, eviction.pod, remedy);
    }
}

// Whatever is asked, the facts stay what they were.
RC_GTEST_PROP(Margin, AskingChangesNothing, ()) {
    const auto laboratory = build(random_world({.nodes = 3, .running = 8, .pending = 3}));
    const SchedulerConfig config = read_config(random_config());
    const Plan plan = run_cycle(laboratory->cluster(), config);
    const std::string rooms = numbers(laboratory->cluster());
    const Snapshot& s = laboratory->cluster().snapshot();
    std::vector<std::string> pods;
    for (PodId id : IdRange<PodId>(s.pods.size()))
        if (s.pods[id].state != PodState::kAbsent) pods.push_back(s.pod_name(id));
    for (const std::string& pod : pods) {
        Retrials trials(plan, laboratory->cluster(), config, 10);
        static_cast<void>(explain(plan, &trials, {.name = pod, .gang = false, .pods = {pod}}));
        RC_ASSERT(trials.count() <= 10);
    }
    RC_ASSERT(difference(rooms, numbers(laboratory->cluster())) == "");
    RC_ASSERT(run_cycle(laboratory->cluster(), config) == plan);
}

}  // namespace
}  // namespace reprieve::property
