// TestWorld: a small cluster and a plan for it, both made by hand, for the tests of the audit.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "audit/audit.h"
#include "model/plan.h"
#include "state/cluster.h"

namespace reprieve {

inline constexpr std::int64_t kGi = std::int64_t{1} << 30;

struct TestNode {
    std::int64_t cpu = 4000;
    std::int64_t pods = 10;
    std::map<std::string, std::string> labels;
    std::function<void(Node&)> edit;
};

struct TestPod {
    std::string node;  // empty: it waits
    std::int64_t cpu = 1000;
    std::int32_t priority = 0;
    std::string group;
    std::string queue;
    std::map<std::string, std::string> labels;
    std::string ns = "default";
    std::function<void(PodSpec&)> spec;
    std::function<void(Pod&)> edit;
};

class TestWorld {
public:
    explicit TestWorld(ClusterOptions options = {}) : cluster(std::move(options)) {}

    Cluster cluster;
    SchedulerConfig config;
    Plan plan;
    Time now{std::int64_t{1'000'000} * 1'000'000};

    StringId id(const std::string& text) { return cluster.words().string(text); }
    Dim dim(const std::string& text) { return cluster.words().dimension(text); }
    Labels labels(const std::map<std::string, std::string>& texts) {
        Labels made;
        for (const auto& [key, value] : texts)
            made.set(id(key), id(value));
        return made;
    }
    Requirement is(const std::string& key, const std::string& value) {
        return {id(key), SelectorOp::kIn, {id(value)}, 0};
    }
    LabelSelector selects(const std::string& key, const std::string& value) { return {false, {is(key, value)}}; }
    PodAffinityTerm near(const std::string& topology, const std::string& key, const std::string& value) {
        return {id(topology), selects(key, value), {id("default")}, {}};
    }
    Resources amounts(const std::map<std::string, std::int64_t>& texts) {
        Resources made;
        for (const auto& [name, value] : texts)
            made.set(dim(name), value);
        return made;
    }

    template <class Fact>
    void add(Fact fact) {
        const auto added = cluster.add(Object(std::move(fact)));
        ASSERT_TRUE(added.has_value()) << added.error().message;
    }
    void node(const std::string& name, const TestNode& options = {}) {
        Node made;
        made.name = id(name);
        made.labels = labels(options.labels);
        made.labels.set(id("kubernetes.io/hostname"), id(name));
        made.allocatable = amounts({{"cpu", options.cpu}, {"pods", options.pods}});
        if (options.edit) options.edit(made);
        add(made);
    }
    void pod(const std::string& name, const TestPod& options = {}) {
        PodSpec spec;
        spec.requests = amounts({{"cpu", options.cpu}, {"pods", 1}});
        spec.scheduler = id("reprieve");
        if (options.spec) options.spec(spec);
        Pod made;
        made.ns = id(options.ns);
        made.name = name;
        made.uid = "uid-" + name;
        made.labels = cluster.words().labels(labels(options.labels));
        made.spec = cluster.words().spec(spec);
        made.priority = options.priority;
        if (!options.group.empty()) made.group = id(options.group);
        if (!options.queue.empty()) made.queue = id(options.queue);
        if (!options.node.empty()) {
            made.node = id(options.node);
            made.phase = PodPhase::kRunning;
            made.started = Time{now.us - std::int64_t{3600} * 1'000'000};
        }
        if (options.edit) options.edit(made);
        add(made);
    }
    void gang(const std::string& name, std::int32_t min, const std::function<void(Gang&)>& edit = {}) {
        Gang made;
        made.ns = id("default");
        made.name = id(name);
        made.min_members = min;
        if (edit) edit(made);
        add(made);
    }
    void queue(const std::string& name, const std::function<void(Queue&)>& edit = {}) {
        Queue made;
        made.name = id(name);
        if (edit) edit(made);
        add(made);
    }

    void serving(const std::string& name, const std::function<void(ServingDeployment&)>& edit = {}) {
        ServingDeployment made;
        made.ns = id("default");
        made.name = id(name);
        if (edit) edit(made);
        add(made);
    }

    // The plan. Pods are named without their namespace.
    Placement& place(const std::string& pod, const std::string& on, bool after = false, const std::string& owner = "") {
        Placement& item = plan.placements.emplace_back();
        item.pod = "default/" + pod;
        item.node = on;
        item.after_evictions = after;
        item.owner = owner.empty() ? "" : "default/" + owner;
        item.action = "allocate";
        return item;
    }
    Eviction& evict(const std::string& pod,
                    const std::string& on,
                    const std::string& owner,
                    const std::string& action = "preempt") {
        Eviction& item = plan.evictions.emplace_back();
        item.pod = "default/" + pod;
        item.node = on;
        item.owner = "default/" + owner;
        item.action = action;
        item.reason = "makes room";
        return item;
    }
    void unplaced(const std::string& pod, const std::string& owner = "") {
        Unplaced& item = plan.unplaced.emplace_back();
        item.pod = "default/" + pod;
        item.owner = owner.empty() ? "" : "default/" + owner;
        item.reason = "does not fit";
    }
    // One for each owner that evicts.
    void certify() {
        std::map<std::pair<std::string, std::string>, std::int64_t> victims;
        for (const Eviction& item : plan.evictions)
            ++victims[{item.owner, item.action}];
        plan.certificates.clear();
        for (const auto& [key, count] : victims) {
            plan.certificates.push_back(
                {key.first, key.second, CertificateStatus::kHeuristic, {{"pods", count}}, {}, {}, ""});
        }
    }

    // Brings plan and cluster in order, then judges.
    std::vector<Violation> judge() {
        certify();
        sort_plan(plan);
        return judge_as_is();
    }
    std::vector<Violation> judge_as_is() {
        const auto fresh = cluster.refresh(now);
        EXPECT_TRUE(fresh.has_value());
        return audit(cluster, plan, config);
    }
    // "rule object" of everything found.
    std::vector<std::string> found() { return brief(judge()); }
    std::vector<std::string> found_as_is() { return brief(judge_as_is()); }

private:
    static std::vector<std::string> brief(const std::vector<Violation>& violations) {
        std::set<std::string> texts;
        for (const Violation& item : violations)
            texts.insert(item.rule + " " + item.object);
        return {texts.begin(), texts.end()};
    }
};

inline void order_action(SchedulerConfig& config, ActionKind kind, const std::function<void(ActionConfig&)>& edit) {
    config.actions = default_actions();
    for (ActionConfig& action : *config.actions) {
        if (action.kind == kind) edit(action);
    }
}

}  // namespace reprieve
