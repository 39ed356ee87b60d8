// Worlds that gangs fill up, with room that was promised and more waiting than fits: here a step of the cycle depends
// on those before it.
#include <fmt/format.h>

#include "random_world.h"

namespace reprieve::property {
namespace {

Json crowd_pod(const std::string& name, int cpu, int priority) {
    return {{"apiVersion", "v1"},
            {"kind", "Pod"},
            {"metadata", {{"name", name}, {"uid", "uid-" + name}, {"annotations", Json::object()}}},
            {"spec",
             {{"priority", priority},
              {"containers",
               Json::array({{{"name", "c"}, {"resources", {{"requests", {{"cpu", std::to_string(cpu)}}}}}}})}}},
            {"status", {{"phase", "Pending"}}}};
}

Json crowd_object(const char* kind, const std::string& name, Json spec) {
    return {{"apiVersion", "scheduling.volcano.sh/v1beta1"},
            {"kind", kind},
            {"metadata", {{"name", name}}},
            {"spec", std::move(spec)}};
}

}  // namespace

std::vector<Json> filled_world() {
    std::vector<Json> out;
    const int nodes = draw(1, 2);
    std::vector<int> used(static_cast<std::size_t>(nodes));
    for (int i = 0; i < 2; ++i)
        out.push_back(crowd_object("Queue", fmt::format("q{}", i), Json::object()));
    const int gangs = draw(1, 2);
    for (int i = 0; i < gangs; ++i) {
        const std::string gang = fmt::format("g{}", i);
        const int size = draw(2, 4);
        const int priority = draw(0, 1) * 10;
        out.push_back(crowd_object(
            "PodGroup", gang, {{"minMember", rarely(3) ? size - 1 : size}, {"queue", fmt::format("q{}", draw(0, 1))}}));
        for (int member = 0; member < size; ++member) {
            Json pod = crowd_pod(fmt::format("r-{}-{}", i, member), 1, priority);
            pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = gang;
            const int node = draw(0, nodes - 1);
            ++used[static_cast<std::size_t>(node)];
            pod["spec"]["nodeName"] = fmt::format("n{}", node);
            pod["status"]["phase"] = rarely(8) ? "Succeeded" : "Running";
            out.push_back(std::move(pod));
        }
    }
    for (int i = 0; i < nodes; ++i) {
        const int cpu = used[static_cast<std::size_t>(i)] + draw(0, 2);
        out.push_back({{"apiVersion", "v1"},
                       {"kind", "Node"},
                       {"metadata", {{"name", fmt::format("n{}", i)}}},
                       {"status", {{"allocatable", {{"cpu", std::to_string(cpu)}, {"pods", "110"}}}}}});
    }
    const int pending = draw(2, 5);
    for (int i = 0; i < pending; ++i) {
        Json pod = crowd_pod(fmt::format("w{}", i), draw(1, 4), draw(0, 2) * 10);
        pod["metadata"]["annotations"]["scheduling.volcano.sh/queue-name"] = fmt::format("q{}", draw(0, 1));
        if (rarely(3)) pod["status"]["nominatedNodeName"] = fmt::format("n{}", draw(0, nodes - 1));
        out.push_back(std::move(pod));
    }
    return out;
}

}  // namespace reprieve::property
