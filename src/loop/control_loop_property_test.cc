// Random worlds, run until nothing happens any more: whatever the world, the loop comes to rest and leaves it sound.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "loop/loop_test_world.h"

namespace reprieve {
namespace {

constexpr std::int64_t kSecond = 1'000'000;

struct RandomWorld {
    std::string yaml;
    bool disturbed = false;             // something may take room that was promised
    std::set<std::string> overstaying;  // who is not gone when a promise that rests on that ends
    Duration latency;
};

std::string number(int value) { return std::to_string(value); }

// Fills nodes with running pods while there is room, so that the world is possible to begin with.
void add_running(RandomWorld& world, const std::vector<int>& cpus) {
    int next = 0;
    for (std::size_t n = 0; n < cpus.size(); ++n) {
        int room = cpus[n];
        while (room > 0 && *rc::gen::inRange(0, 5) > 0) {
            const int cpu = *rc::gen::inRange(1, std::min(room, 3) + 1);
            TestPodText pod{.name = "run-" + number(next),
                            .priority = *rc::gen::inRange(0, 4),
                            .cpu = cpu,
                            .node = "n" + number(static_cast<int>(n))};
            if (*rc::gen::inRange(0, 2) == 0) pod.owner = "set-" + number(*rc::gen::inRange(0, 3));
            pod.grace = *rc::gen::element(1, 5, 30);
            const int kind = *rc::gen::inRange(0, 6);
            if (kind == 0) pod.annotations = "reprieve.dev/min-runtime: 61m";
            if (kind == 1) pod.annotations = "reprieve.dev/sim-run: 61m";
            if (kind == 2) pod.annotations = "reprieve.dev/preemptible: 'false'";
            // Overstays its deadline; were it made again each time, it could keep a gang waiting for ever.
            if (kind == 3 && pod.owner.empty()) {
                pod.annotations = "reprieve.dev/sim-terminate: 3m";
                world.overstaying.insert("default/" + pod.name);
            }
            world.yaml += pod_yaml(pod);
            room -= cpu;
            ++next;
        }
    }
}

void add_pending(RandomWorld& world) {
    const int pods = *rc::gen::inRange(0, 6);
    for (int i = 0; i < pods; ++i) {
        world.yaml += pod_yaml(
            {.name = "wait-" + number(i), .priority = *rc::gen::inRange(0, 8), .cpu = *rc::gen::inRange(1, 5)});
    }
    const int gangs = *rc::gen::inRange(0, 3);
    for (int g = 0; g < gangs; ++g) {
        const int min = *rc::gen::inRange(1, 4);
        const int members = min + *rc::gen::inRange(0, 2);
        world.yaml += gang_yaml("gang-" + number(g), min, *rc::gen::inRange(0, 8));
        for (int i = 0; i < members; ++i) {
            world.yaml += pod_yaml({.name = "gang-" + number(g) + "-" + number(i),
                                    .cpu = *rc::gen::inRange(1, 3),
                                    .group = "gang-" + number(g)});
        }
    }
}

void add_timeline(RandomWorld& world, int nodes) {
    const int events = *rc::gen::inRange(0, 4);
    if (events == 0) return;
    world.disturbed = true;
    world.yaml += "---\nkind: Timeline\nevents:\n";
    for (int i = 0; i < events; ++i) {
        world.yaml += "  - at: " + number(*rc::gen::inRange(0, 60)) + "s\n";
        const int node = *rc::gen::inRange(0, nodes);
        switch (*rc::gen::inRange(0, 3)) {
            case 0:
                world.yaml += "    apply: {apiVersion: v1, kind: Node, metadata: {name: extra-" + number(i) +
                              "}, status: {allocatable: {cpu: '3', pods: '20'}}}\n";
                break;
            case 1:
                world.yaml += "    apply: {apiVersion: v1, kind: Node, metadata: {name: n" + number(node) +
                              "}, spec: {unschedulable: true}}\n";
                break;
            default:
                world.yaml += "    apply: {apiVersion: v1, kind: Pod, metadata: {name: late-" + number(i) +
                              "}, spec: {schedulerName: reprieve, priority: " + number(*rc::gen::inRange(0, 10)) +
                              ", containers: [{name: main, resources: {requests: {cpu: '" +
                              number(*rc::gen::inRange(1, 4)) + "'}}}]}}\n";
        }
    }
}

RandomWorld random_world() {
    RandomWorld world;
    const auto cpus = *rc::gen::container<std::vector<int>>(static_cast<std::size_t>(*rc::gen::inRange(1, 5)),
                                                            rc::gen::inRange(2, 7));
    for (std::size_t n = 0; n < cpus.size(); ++n)
        world.yaml += node_yaml("n" + number(static_cast<int>(n)), cpus[n]);
    add_running(world, cpus);
    add_pending(world);
    if (*rc::gen::inRange(0, 3) == 0) {
        world.yaml +=
            "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: some}\nspec: {maxUnavailable: 1, "
            "selector: {matchExpressions: [{key: x, operator: DoesNotExist}]}}\n";
    }
    add_timeline(world, static_cast<int>(cpus.size()));
    world.latency = {*rc::gen::element<std::int64_t>(0, 0, kSecond / 3, 4 * kSecond)};
    return world;
}

// What was decided, a line each, for whoever reads of a failure.
std::string story(const LoopRecord& record) {
    std::string text;
    std::string before;
    for (const Plan& plan : record.plans) {
        std::string line;
        for (const Placement& one : plan.placements)
            line +=
                fmt::format("  {} on {}{} ({})\n", one.pod, one.node, one.after_evictions ? " later" : "", one.action);
        for (const Eviction& one : plan.evictions)
            line += fmt::format("  {} leaves {} for {}\n", one.pod, one.node, one.owner);
        for (const std::string& one : plan.nominations_cleared)
            line += fmt::format("  {} does not wait for its node any more\n", one);
        for (const Unplaced& one : plan.unplaced)
            line += fmt::format("  {} waits: {}\n", one.pod, one.reason);
        if (line != before) text += format_time(plan.now) + "\n" + line;
        before = std::move(line);
    }
    return text;
}

// Whether somebody was evicted who overstayed: then that promise ends, and whoever waited may take room that others of
// lower priority were promised.
bool waited_in_vain(const LoopRecord& record, const RandomWorld& random) {
    return std::ranges::any_of(record.evicted,
                               [&](const std::string& pod) { return random.overstaying.contains(pod); });
}

// Why the world is not sound; empty: it is.
std::string unsound(const World& world, const LoopRecord& record, const RandomWorld& random) {
    if (!record.violations.empty()) return "audit: " + record.violations.front();
    if (!record.troubles.empty()) return "trouble: " + record.troubles.front();
    for (const auto& [uid, times] : record.evictions) {
        if (times > 1) return "evicted more than once: " + uid;
    }
    const bool holds = !random.disturbed && !waited_in_vain(record, random);
    for (SlotId slot : world.store().of_kind("Pod")) {
        const Store::Entry& entry = world.store().at(slot);
        const bool bound = !text_at(entry.body, {"spec", "nodeName"}).empty();
        if (!text_at(entry.body, {"status", "nominatedNodeName"}).empty())
            return "leaked nomination: " + entry.key.name;
        if (!text_at(entry.body, {"metadata", "annotations", "reprieve.dev/plan"}).empty())
            return "leaked record: " + entry.key.name;
        if (holds && !bound && record.preemptors.contains("default/" + entry.key.name))
            return "evicted for, but not bound: " + entry.key.name;
    }
    return "";
}

RC_GTEST_PROP(RandomLoop, comes_to_rest_and_leaves_the_world_sound, ()) {
    const RandomWorld random = random_world();
    RC_LOG() << random.yaml << "latency " << random.latency.us << "\n";
    World world({.start = kLoopStart, .seed = 1, .latency = random.latency});
    const auto loaded = world.load_text("world.yaml", random.yaml);
    RC_ASSERT(loaded.has_value());
    world.begin();
    LoopRecord record;
    LoopOptions options;
    options.cycles = 400;
    LoopLife life(world, record, options);
    RC_ASSERT(life.loop.run() == LoopEnd::kWorldEnded);
    const std::string fault = unsound(world, record, random);
    RC_LOG() << story(record) << fault << "\n";
    RC_ASSERT(fault.empty());
}

RC_GTEST_PROP(RandomLoop, may_be_replaced_at_any_moment, ()) {
    const RandomWorld random = random_world();
    RC_LOG() << random.yaml << "latency " << random.latency.us << "\n";
    World world({.start = kLoopStart, .seed = 1, .latency = random.latency});
    RC_ASSERT(world.load_text("world.yaml", random.yaml).has_value());
    world.begin();
    LoopRecord record;
    // Each lives for a few turns; what it asked for is done even so.
    for (int life = 0; life < 6; ++life) {
        LoopLife one(world, record, {});
        const int turns = *rc::gen::inRange(1, 6);
        for (int i = 0; i < turns; ++i) {
            if (one.loop.turn()) break;
        }
        while (!one.sink.idle())
            world.advance(*world.next_event());
    }
    LoopOptions options;
    options.cycles = 400;
    LoopLife last(world, record, options);
    RC_ASSERT(last.loop.run() == LoopEnd::kWorldEnded);
    const std::string fault = unsound(world, record, random);
    RC_LOG() << story(record) << fault << "\n";
    RC_ASSERT(fault.empty());
}

}  // namespace
}  // namespace reprieve
