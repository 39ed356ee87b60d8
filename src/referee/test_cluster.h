// Objects of small clusters as texts. For tests.
#pragma once

#include <string>

namespace reprieve {

inline std::string judged_node(const std::string& name, int cpu) {
    return R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")" + name +
           R"("},"status":{"allocatable":{"cpu":")" + std::to_string(cpu) +
           R"(","pods":"20"},"conditions":[{"type":"Ready","status":"True"}]}})";
}

struct JudgedPod {
    std::string name;
    int priority = 0;
    int cpu = 1;
    std::string node;  // running there
    std::string nominated;
    std::string label;  // app
    std::string mark;   // message of DisruptionTarget
    bool leaving = false;
    std::string group;  // Volcano's
    int version = 0;
    std::string evicts;  // Reprieve's intent: UID of a victim
    int seen = 0;        // of the intent
    std::string plan = "x";
};

inline std::string judged_pod(const JudgedPod& pod) {
    std::string out = R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"ns","name":")" + pod.name +
                      R"(","uid":"u-)" + pod.name +
                      R"(","creationTimestamp":"2026-03-02T08:00:00Z","labels":{"app":")" + pod.label + "\"}";
    if (!pod.group.empty()) out += R"(,"annotations":{"scheduling.k8s.io/group-name":")" + pod.group + "\"}";
    if (pod.version > 0) out += R"(,"resourceVersion":")" + std::to_string(pod.version) + "\"";
    if (!pod.evicts.empty())
        out += R"(,"annotations":{"reprieve.dev/plan":"{\"id\":\")" + pod.plan + R"(\",\"victims\":[\")" + pod.evicts +
               R"(\"],\"seen\":\")" + std::to_string(pod.seen) + R"(\"}"})";
    if (pod.leaving) out += R"(,"deletionTimestamp":"2026-03-02T09:01:00Z")";
    out += R"(},"spec":{"schedulerName":"default-scheduler","priority":)" + std::to_string(pod.priority) +
           R"(,"containers":[{"name":"c","resources":{"requests":{"cpu":")" + std::to_string(pod.cpu) + R"("}}}])";
    if (!pod.node.empty()) out += R"(,"nodeName":")" + pod.node + "\"";
    out += R"(},"status":{"phase":")" + std::string(pod.node.empty() ? "Pending" : "Running") + "\"";
    if (!pod.node.empty()) out += R"(,"startTime":"2026-03-02T08:00:00Z")";
    if (!pod.nominated.empty()) out += R"(,"nominatedNodeName":")" + pod.nominated + "\"";
    if (!pod.mark.empty())
        out +=
            R"(,"conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler","message":")" +
            pod.mark + "\"}]";
    return out + "}}";
}

inline std::string judged_gang(const std::string& name, int min) {
    return R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"namespace":"ns","name":")" +
           name + R"("},"spec":{"minMember":)" + std::to_string(min) + "}}";
}

inline std::string judged_budget(const std::string& name, int allowed) {
    return R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"namespace":"ns","name":")" + name +
           R"("},"spec":{"maxUnavailable":)" + std::to_string(allowed) + R"(,"selector":{"matchLabels":{"app":")" +
           name + R"("}}}})";
}

}  // namespace reprieve
