// LoopTest: the embedded cluster, a control loop on it, and a record of everything the loop decided.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "loop/control_loop.h"
#include "manifest/plan_json.h"
#include "sim/world_ends.h"

namespace reprieve {

inline constexpr Time kLoopStart{std::int64_t{1'772'442'000} * 1'000'000};  // 2026-03-02T09:00:00Z

class LoopRecord : public LoopObserver {
public:
    std::map<std::string, int> evictions;  // by UID: how often a plan that was carried out evicted it
    std::vector<std::string> evicted;      // names, in order
    std::set<std::string> preemptors;      // for whom pods were evicted
    std::vector<SinkReport> failures;
    std::vector<std::string> violations;
    std::vector<std::string> troubles;
    std::int64_t cycles = 0;
    std::int64_t acts = 0;  // placements, evictions and the like of the last cycle
    std::vector<Plan> plans;
    std::function<void(const CycleReport&)> before_carrying_out;

    void on_cycle(const CycleReport& report) override {
        ++cycles;
        for (const Violation& v : report.violations)
            violations.push_back(format_violation(v));
        if (!report.violations.empty()) std::fputs(plan_to_json(report.plan).c_str(), stderr);
        acts = static_cast<std::int64_t>(report.plan.placements.size() + report.plan.evictions.size() +
                                         report.plan.nominations_cleared.size());
        plans.push_back(report.plan);
        if (report.carried_out) {
            for (const Eviction& e : report.plan.evictions) {
                ++evictions[e.uid];
                evicted.push_back(e.pod);
                preemptors.insert(e.owner);
            }
        }
        if (before_carrying_out) before_carrying_out(report);
    }
    void on_step(const SinkReport& report, Time) override {
        if (!report.ok) failures.push_back(report);
    }
    void on_trouble(const std::string& what, Time) override { troubles.push_back(what); }
};

// One scheduler's life: its memory goes with it.
struct LoopLife {
    LoopLife(World& world, LoopRecord& record, LoopOptions options, Sink* other_sink = nullptr)
        : cluster({.scheduler_names = {"reprieve"},
                   .topology_levels = {},
                   .queues_by_namespace = false,
                   .trust = {},
                   .claims_by_controller = true}),
          source(world, cluster.words()),
          sink(world),
          loop(cluster, source, other_sink != nullptr ? *other_sink : sink, record, std::move(options)) {}

    Cluster cluster;
    WorldSource source;
    WorldSink sink;
    ControlLoop loop;
};

class LoopTest : public testing::Test {
protected:
    void start(const std::string& yaml, WorldOptions options = {.start = kLoopStart, .seed = 1, .latency = {}}) {
        life_.reset();
        record_ = LoopRecord();
        world_ = std::make_unique<World>(options);
        const auto loaded = world_->load_text("world.yaml", yaml);
        ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
        world_->begin();
    }
    // A new scheduler on the same world.
    ControlLoop& restart(LoopOptions options = {}, Sink* sink = nullptr) {
        life_ = std::make_unique<LoopLife>(*world_, record_, std::move(options), sink);
        return life_->loop;
    }
    LoopEnd run(LoopOptions options = {}) { return restart(std::move(options)).run(); }

    World& world() { return *world_; }
    LoopRecord& record() { return record_; }
    Cluster& cluster() { return life_->cluster; }

    // "n1", "" while it waits, "gone".
    std::string node_of(const std::string& pod) { return node_in(world(), pod); }
    static std::string node_in(World& world, const std::string& pod) {
        const SlotId slot = world.store().find_pod("default/" + pod);
        return slot ? text_at(world.store().at(slot).body, {"spec", "nodeName"}) : "gone";
    }
    std::string nominated(const std::string& pod) {
        return text_at(world().store().at(world().store().find_pod("default/" + pod)).body,
                       {"status", "nominatedNodeName"});
    }

    // What must hold whenever nothing is going to happen any more.
    static void expect_sound(const World& world, const LoopRecord& record) {
        EXPECT_THAT(record.violations, testing::IsEmpty());
        EXPECT_THAT(record.troubles, testing::IsEmpty());
        for (const auto& [uid, times] : record.evictions)
            EXPECT_EQ(times, 1) << "evicted more than once: " << uid;
        for (const std::string& owner : record.preemptors) {
            const SlotId slot = world.store().find_pod(owner);
            if (!slot) continue;
            EXPECT_NE(text_at(world.store().at(slot).body, {"spec", "nodeName"}), "")
                << "evicted for, but not bound: " << owner;
        }
        for (SlotId slot : world.store().of_kind("Pod")) {
            const Json& body = world.store().at(slot).body;
            const std::string name = world.store().at(slot).key.name;
            EXPECT_EQ(text_at(body, {"status", "nominatedNodeName"}), "") << "leaked nomination: " << name;
            EXPECT_EQ(text_at(body, {"metadata", "annotations", "reprieve.dev/plan"}), "") << "leaked record: " << name;
        }
    }
    void expect_sound() { expect_sound(world(), record_); }

private:
    std::unique_ptr<World> world_;
    LoopRecord record_;
    std::unique_ptr<LoopLife> life_;
};

inline std::string node_yaml(const std::string& name, int cpu = 4) {
    return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + "}\nstatus: {allocatable: {cpu: '" +
           std::to_string(cpu) + "', memory: 16Gi, pods: '20'}}\n";
}

struct TestPodText {
    std::string name;
    int priority = 0;
    int cpu = 1;
    std::string node;         // bound there and running
    std::string group;        // of Volcano
    std::string owner;        // a ReplicaSet that is in no manifest
    std::string annotations;  // more of them: "a: b, c: d"
    int grace = 10;
    std::string scheduler = "reprieve";
};

inline std::string pod_yaml(const TestPodText& pod) {
    std::string notes = pod.annotations;
    if (!pod.group.empty())
        notes += std::string(notes.empty() ? "" : ", ") + "scheduling.k8s.io/group-name: " + pod.group;
    std::string out = "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: " + pod.name +
                      "\n  creationTimestamp: '2026-03-02T08:00:00Z'\n  annotations: {" + notes + "}\n";
    if (!pod.owner.empty()) {
        out += "  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: " + pod.owner +
               ", uid: u, controller: true}]\n";
    }
    out += "spec:\n  schedulerName: " + pod.scheduler + "\n  priority: " + std::to_string(pod.priority) +
           "\n  terminationGracePeriodSeconds: " + std::to_string(pod.grace) + "\n";
    if (!pod.node.empty()) out += "  nodeName: " + pod.node + "\n";
    out += "  containers: [{name: main, resources: {requests: {cpu: '" + std::to_string(pod.cpu) + "'}}}]\n";
    if (!pod.node.empty())
        out +=
            "status: {phase: Running, startTime: '2026-03-02T08:00:00Z', conditions: [{type: Ready, status: "
            "'True'}]}\n";
    return out;
}

inline std::string gang_yaml(const std::string& name, int min, int priority_value = 0) {
    std::string out = "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: class-" + name +
                      "}\nvalue: " + std::to_string(priority_value) + "\n";
    return out + "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: " + name +
           "}\nspec: {minMember: " + std::to_string(min) + ", priorityClassName: class-" + name + "}\n";
}

}  // namespace reprieve
