// Weighted queues over time: for every resource what is granted and what is waited for add up to the shares, nobody is
// stopped who holds no more than its due, and a world that is left alone comes to rest.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "story.h"

namespace reprieve::property {
namespace {

constexpr int kBalanceCycles = 30;

std::string resource_list(int most) {
    return Json{{"cpu", std::to_string(draw(0, most)) + "m"}, {"memory", std::to_string(draw(0, most)) + "Mi"}}.dump();
}

Json random_queue(const std::string& name) {
    Json metadata{{"name", name}, {"annotations", Json::object()}};
    if (!rarely(3)) metadata["annotations"]["reprieve.dev/request"] = resource_list(12'000);
    if (!rarely(3)) metadata["annotations"]["reprieve.dev/allocated"] = resource_list(8'000);
    Json spec{{"weight", draw(1, 4)}};
    if (rarely(6)) spec["guarantee"] = {{"resource", {{"cpu", "1"}}}};
    if (rarely(6)) spec["capability"] = {{"cpu", "3"}};
    return {{"apiVersion", "scheduling.volcano.sh/v1beta1"}, {"kind", "Queue"}, {"metadata", metadata}, {"spec", spec}};
}

Json random_member(const std::string& name, const std::string& queue) {
    Json annotations{{"scheduling.volcano.sh/queue-name", queue}};
    if (rarely(4)) annotations["preemptionrank"] = std::to_string(draw(-2, 2));
    if (rarely(10)) annotations["reprieve.dev/preemptible"] = "false";
    if (rarely(4)) annotations["scheduling.k8s.io/group-name"] = "gang-" + queue;
    Json metadata{
        {"name", name}, {"annotations", annotations}, {"labels", {{"app", "x" + std::to_string(draw(0, 2))}}}};
    if (rarely(8)) metadata["deletionTimestamp"] = "2026-01-01T12:00:20Z";
    Json requests{{"cpu", std::to_string(draw(0, 6) * 500) + "m"}, {"memory", std::to_string(draw(0, 6) * 500) + "Mi"}};
    if (rarely(5)) requests["example.com/slot"] = "1";
    Json spec{{"containers", {{{"name", "c"}, {"resources", {{"requests", requests}}}}}}, {"priority", draw(0, 2)}};
    Json status{{"phase", "Pending"}};
    if (!rarely(6)) {
        spec["nodeName"] = "n1";
        if (!rarely(5))
            status = {{"phase", "Running"}, {"startTime", "2026-01-01T0" + std::to_string(draw(0, 9)) + ":00:00Z"}};
    } else {
        metadata.erase("deletionTimestamp");
    }
    return {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", metadata}, {"spec", spec}, {"status", status}};
}

std::vector<Json> random_queues() {
    const Json room{
        {"cpu", std::to_string(draw(4, 16))}, {"memory", "12Gi"}, {"example.com/slot", "2"}, {"pods", "110"}};
    std::vector<Json> world{
        {{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", "n1"}}}, {"status", {{"allocatable", room}}}}};
    const int queues = draw(1, 4);
    for (int q = 0; q < queues; ++q) {
        const std::string name = "q" + std::to_string(q);
        world.push_back(random_queue(name));
        world.push_back({{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                         {"kind", "PodGroup"},
                         {"metadata", {{"name", "gang-" + name}, {"namespace", "default"}}},
                         {"spec", {{"minMember", draw(1, 3)}, {"queue", name}}}});
        const int pods = draw(0, 6);
        for (int p = 0; p < pods; ++p)
            world.push_back(random_member(name + "-p" + std::to_string(p), name));
    }
    if (rarely(2)) {
        world.push_back({{"apiVersion", "policy/v1"},
                         {"kind", "PodDisruptionBudget"},
                         {"metadata", {{"name", "some"}, {"namespace", "default"}}},
                         {"spec", {{"maxUnavailable", draw(0, 2)}, {"selector", {{"matchLabels", {{"app", "x1"}}}}}}}});
    }
    return world;
}

// queueBalance alone, or after those that place pods.
Json balance_config(bool alone) {
    Json actions = Json::array();
    if (!alone && !rarely(3)) actions.push_back({{"name", "allocate"}});
    if (!alone && rarely(2)) actions.push_back({{"name", "preempt"}, {"args", {{"crossQueue", rarely(2)}}}});
    if (!alone && rarely(3)) actions.push_back({{"name", "gangReclaim"}});
    // Strict budgets let more go when those before them have left.
    actions.push_back({{"name", "queueBalance"}, {"args", {{"pdb", !alone && rarely(3) ? "strict" : "bestEffort"}}}});
    return {{"actions", actions}};
}

Story random_story(bool alone = true) { return Story(random_queues(), balance_config(alone)); }

void expect_sums(const Json& plan) {
    std::map<std::string, std::int64_t> balance;
    for (const Json& queue : plan["queues"]) {
        for (const auto& [resource, deserved] : queue["deserved"].items()) {
            const std::int64_t allocated = queue["allocated"][resource];
            const std::int64_t preempting = queue["preempting"][resource];
            RC_ASSERT(allocated >= 0 && preempting >= 0);
            RC_ASSERT(allocated <= deserved.get<std::int64_t>());
            balance[resource] += allocated + preempting - deserved.get<std::int64_t>();
        }
    }
    for (const auto& [resource, difference] : balance)
        RC_ASSERT(difference == 0);
}

RC_GTEST_PROP(QueueBalance, GrantedAndWaitedForAreTheShares, ()) {
    Story story = random_story();
    for (int i = 0; i < 3; ++i) {
        expect_sums(story.cycle());
        story.let_victims_go();
    }
}

bool covers(const Json& bound, const Json& amounts) {
    return std::ranges::all_of(amounts.items(), [&](const auto& item) {
        return !bound.contains(item.key()) || item.value() <= bound[item.key()];
    });
}

// In milli-CPU and bytes, as a plan counts.
Json recorded_grant(const std::vector<Json>& documents, const std::string& queue) {
    for (const Json& document : documents) {
        if (document["kind"] != "Queue" || document["metadata"]["name"] != queue) continue;
        const Json& notes = document["metadata"]["annotations"];
        if (!notes.contains("reprieve.dev/allocated")) return Json::object();
        const Json written = Json::parse(notes["reprieve.dev/allocated"].get<std::string>());
        return {{"cpu", std::stoll(written["cpu"].get<std::string>())},
                {"memory", std::stoll(written["memory"].get<std::string>()) << 20}};
    }
    return Json::object();
}

RC_GTEST_PROP(QueueBalance, WithinItsDueNobodyIsStopped, ()) {
    Story story = random_story();
    const std::vector<Json> before = story.documents();
    const Json plan = story.cycle();
    for (const Json& queue : plan["queues"]) {
        // Terminating pods make `used` more than what lives: then nothing follows from it.
        const std::string name = queue["name"];
        if (!covers(queue["deserved"], queue["used"]) || !covers(recorded_grant(before, name), queue["used"])) continue;
        RC_ASSERT(std::ranges::none_of(plan["evictions"], [&](const Json& eviction) {
            return eviction["pod"].get<std::string>().starts_with("default/" + name + "-");
        }));
    }
}

RC_GTEST_PROP(QueueBalance, WhileVictimsLeaveNothingNewHappens, ()) {
    Story story = random_story();
    const Json first = story.cycle();
    const Json second = story.cycle();
    RC_ASSERT(second["evictions"].empty());
    RC_ASSERT(first["queues"] == second["queues"]);
}

RC_GTEST_PROP(QueueBalance, AClosedWorldComesToRest, ()) {
    const bool come_back = !rarely(2);
    Story story = random_story(false);
    int quiet = 0;
    Json before;
    for (int i = 0; i < kBalanceCycles && quiet < 2; ++i) {
        const Json plan = story.cycle();
        const bool moved = story.let_victims_go() || binds(plan) || plan["queues"] != before;
        if (come_back) story.return_victims();
        before = plan["queues"];
        quiet = moved ? 0 : quiet + 1;
    }
    RC_ASSERT(quiet == 2);
}

}  // namespace
}  // namespace reprieve::property
