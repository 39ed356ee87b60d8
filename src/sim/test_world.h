// SimTest: a world out of a few lines of YAML, and questions about it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "sim/world.h"

namespace reprieve {

inline constexpr Time kStart{std::int64_t{1'772'442'000} * 1'000'000};  // 2026-03-02T09:00:00Z

inline Duration seconds(std::int64_t count) { return {count * 1'000'000}; }

class SimTest : public testing::Test {
protected:
    // Loads and begins.
    void start(const std::string& yaml, WorldOptions options = {.start = kStart, .seed = 1, .latency = {}}) {
        world_ = std::make_unique<World>(options);
        const auto loaded = world_->load_text("world.yaml", yaml);
        ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
        world_->begin();
    }
    World& world() { return *world_; }
    const Store& store() { return world_->store(); }
    void pass(std::int64_t count) { world_->advance(world_->now() + seconds(count)); }

    const Store::Entry* find(const std::string& kind, const std::string& name, const std::string& ns = "default") {
        const SlotId slot = store().find({kind, ns, name});
        return slot ? &store().at(slot) : nullptr;
    }
    const Store::Entry& pod(const std::string& name) {
        const Store::Entry* found = find("Pod", name);
        EXPECT_NE(found, nullptr) << name;
        static const Store::Entry kNone{};
        return found != nullptr ? *found : kNone;
    }
    std::string phase(const std::string& name) { return text_at(pod(name).body, {"status", "phase"}); }
    std::vector<std::string> pods() {
        std::vector<std::string> out;
        for (SlotId slot : store().of_kind("Pod"))
            out.push_back(store().at(slot).key.name);
        return out;
    }
    // Asks at once, as kubectl would.
    void bind(const std::string& name, const std::string& node) {
        const auto bound = world_->api().bind({"default/" + name, ""}, node, {});
        ASSERT_TRUE(bound.has_value()) << bound.error().message;
        world_->settle();
    }
    void remove(const std::string& name) {
        ASSERT_TRUE(world_->api().remove({"default/" + name, ""}).has_value());
        world_->settle();
    }

private:
    std::unique_ptr<World> world_;
};

inline std::string node_yaml(const std::string& name, int cpu = 4, int gpus = 0) {
    std::string amounts = "{cpu: '" + std::to_string(cpu) + "', memory: 16Gi, pods: '20'";
    if (gpus > 0) amounts += ", nvidia.com/gpu: '" + std::to_string(gpus) + "'";
    return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + "}\nstatus: {allocatable: " + amounts + "}}\n";
}

// `more` goes into metadata, e.g. "annotations: {a: b}".
inline std::string pod_yaml(const std::string& name,
                            const std::string& node = "",
                            const std::string& more = "",
                            const std::string& cpu = "1") {
    std::string out = "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: " + name + "\n";
    if (!more.empty()) out += "  " + more + "\n";
    out += "spec:\n  schedulerName: reprieve\n  terminationGracePeriodSeconds: 10\n";
    if (!node.empty()) out += "  nodeName: " + node + "\n";
    out += "  containers: [{name: main, resources: {requests: {cpu: '" + cpu + "'}}}]\n";
    if (!node.empty())
        out +=
            "status: {phase: Running, startTime: '2026-03-02T08:00:00Z', conditions: [{type: Ready, status: "
            "'True'}]}\n";
    return out;
}

}  // namespace reprieve
