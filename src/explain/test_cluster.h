// TestCluster: a small cluster written as manifests, for the tests of explanations.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "actions/cycle.h"
#include "base/check.h"
#include "explain/explain.h"
#include "manifest/config.h"
#include "manifest/load.h"

namespace reprieve {

class TestCluster {
public:
    // 2026-01-01T12:00:00Z
    static constexpr Time kNow{std::int64_t{1767268800} * 1'000'000};

    explicit TestCluster(const std::string& manifests, const std::string& settings = "{}") : cluster({}) {
        Loader loader(cluster.words(), [this](Object&& object, const SourceRef&) {
            const auto added = cluster.add(std::move(object));
            REPRIEVE_CHECK(added, "{}", added.error().message);
        });
        const auto loaded = loader.load_text("test", manifests);
        REPRIEVE_CHECK(loaded, "{}", loaded.error().text());
        const auto ready = cluster.refresh(kNow);
        REPRIEVE_CHECK(ready, "{}", ready.error().message);
        const auto parsed = parse_config(settings, "config");
        REPRIEVE_CHECK(parsed, "{}", parsed.error().message);
        config = *parsed;
        plan = run_cycle(cluster, config);
    }

    [[nodiscard]] Explanation explain_with(std::int64_t plans, const std::string& name, bool gang = false) {
        const auto subject = find_subject(plan, &cluster, name, gang);
        REPRIEVE_CHECK(subject, "{}", subject.error().message);
        Retrials trials(plan, cluster, config, plans);
        return explain(plan, &trials, *subject);
    }
    [[nodiscard]] Explanation explain_all(const std::string& name, bool gang = false) {
        return explain_with(100, name, gang);
    }
    [[nodiscard]] std::string error(const std::string& name, bool gang = false) {
        const auto subject = find_subject(plan, &cluster, name, gang);
        return subject ? "" : subject.error().message;
    }

    Cluster cluster;
    SchedulerConfig config;
    Plan plan;
};

inline const Remedy* find_remedy(const Explanation& e, Lever lever) {
    const auto& remedies = e.evictions.at(0).margin.value().remedies;
    const auto at = std::ranges::find(remedies, lever, &Remedy::lever);
    return at == remedies.end() ? nullptr : &*at;
}

inline std::string test_node(const std::string& name, int cpu) {
    return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + "}\nstatus: {allocatable: {cpu: \"" +
           std::to_string(cpu) + "\", pods: \"20\"}}\n";
}

struct ExplainTestPod {
    std::string name;
    std::string node;  // empty: it waits
    int cpu = 1;
    int priority = 0;
    std::string started = "2026-01-01T11:00:00Z";
    std::string annotations = "";  // "a: b, c: d"
    std::string spec = "";         // ", key: value"
    std::string status = "";       // ", key: value"
    std::string metadata = "";     // ", key: value"
    std::string ns = "default";
};

inline std::string test_pod(const ExplainTestPod& p) {
    std::string out = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + p.name + ", namespace: " + p.ns +
                      ", annotations: {" + p.annotations + "}" + p.metadata + "}\n";
    out += "spec: {priority: " + std::to_string(p.priority) +
           ", containers: [{name: c, resources: {requests: {cpu: \"" + std::to_string(p.cpu) + "\"}}}]" +
           (p.node.empty() ? "" : ", nodeName: " + p.node) + p.spec + "}\n";
    return out + "status: {phase: " + (p.node.empty() ? "Pending" : "Running, startTime: \"" + p.started + "\"") +
           p.status + "}\n";
}

}  // namespace reprieve
