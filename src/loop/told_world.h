// A cluster that a test tells a loop of, object by object, as a watch would. For tests.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "loop/loop_test_world.h"
#include "manifest/decode.h"

namespace reprieve {

// Tells what it is given, once, as a watch would: objects are read with care where they cannot be read as they are.
class ToldSource : public Source {
public:
    explicit ToldSource(Vocabulary& words) : words_(words), decoder_(words) {}

    void tell(const std::string& json) {
        auto decoded = decoder_.decode(json);
        Object object = decoded ? std::move(**decoded) : std::move(*decoder_.decode_leniently(json).object);
        news_.push_back({.object = std::move(object), .removed = false, .digest = digest_bytes(json)});
    }
    // That a pod of the namespace `default` is gone.
    void tell_gone(const std::string& pod) {
        Pod like;
        like.ns = words_.string("default");
        like.name = pod;
        news_.push_back({.object = std::move(like), .removed = true, .digest = {}});
    }
    bool poll(std::vector<Change>& out, Duration wait) override {
        const bool any = !news_.empty();
        std::ranges::move(news_, std::back_inserter(out));
        news_.clear();
        if (!any && wait < kForever) now_ = now_ + wait;
        return any || wait < kForever;
    }
    [[nodiscard]] Time now() const override { return now_; }

private:
    Vocabulary& words_;
    Decoder decoder_;
    std::vector<Change> news_;
    Time now_ = kLoopStart;
};

class KeepingSink : public Sink {
public:
    void carry_out(const Plan& plan) override { plans.push_back(plan); }
    void collect(std::vector<SinkReport>&) override {}
    [[nodiscard]] bool idle() const override { return true; }
    std::vector<Plan> plans;
};

inline std::string told_node(const std::string& name, int cpu = 4) {
    return R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")" + name +
           R"("},"status":{"allocatable":{"cpu":")" + std::to_string(cpu) + R"(","pods":"20"}}})";
}

struct ToldPod {
    std::string name;
    int priority = 0;
    int cpu = 1;
    std::string node;
    std::string notes;   // annotations: "\"a\":\"b\""
    std::string labels;  // the same
    std::string spec;    // more of it, with a comma in front
};

inline std::string told_pod(const ToldPod& pod) {
    std::string out = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + pod.name +
                      R"(","namespace":"default","uid":"u-)" + pod.name + R"(","labels":{)" + pod.labels +
                      R"(},"annotations":{)" + pod.notes + R"(}},"spec":{"schedulerName":"reprieve","priority":)" +
                      std::to_string(pod.priority) + R"(,"containers":[{"name":"c","resources":{"requests":{"cpu":")" +
                      std::to_string(pod.cpu) + R"("}}}])" + pod.spec;
    if (!pod.node.empty()) out += R"(,"nodeName":")" + pod.node + "\"";
    return out + (pod.node.empty() ? "}}" : R"(},"status":{"phase":"Running"}})");
}

inline std::string told_object(const std::string& version,
                               const std::string& kind,
                               const std::string& metadata,
                               const std::string& spec) {
    return R"({"apiVersion":")" + version + R"(","kind":")" + kind + R"(","metadata":{)" + metadata + R"(},"spec":{)" +
           spec + "}}";
}

}  // namespace reprieve
