// A world as manifests, and the configuration it is planned with.
#include <fmt/format.h>

#include <algorithm>

#include "world.h"

namespace reprieve::worlds {
namespace {

constexpr const char* kHostKey = "kubernetes.io/hostname";
constexpr const char* kZoneKey = "topology.kubernetes.io/zone";

const char* key_of(Level level) { return level == Level::kHost ? kHostKey : kZoneKey; }
std::string app_name(int app) { return std::string(1, static_cast<char>('a' + app)); }
Json selector(int app) { return {{"matchLabels", {{"app", app_name(app)}}}}; }

std::string time_of(int seconds) {
    return fmt::format("2026-01-01T{:02}:{:02}:{:02}Z", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

Json node_document(const WorldNode& node) {
    Json labels{{kHostKey, node.name}};
    if (node.zone >= 0) labels[kZoneKey] = fmt::format("z{}", node.zone);
    return {{"apiVersion", "v1"},
            {"kind", "Node"},
            {"metadata", {{"name", node.name}, {"labels", labels}}},
            {"status", {{"allocatable", {{"cpu", std::to_string(node.cpu)}, {"pods", std::to_string(node.pods)}}}}}};
}

Json affinity_of(const Traits& traits) {
    Json out = Json::object();
    for (const Near& near : traits.near) {
        const Json term{{"labelSelector", selector(near.app)}, {"topologyKey", key_of(near.level)}};
        out[near.anti ? "podAntiAffinity" : "podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"].push_back(
            term);
    }
    return out;
}

Json spread_of(const Traits& traits) {
    Json out = Json::array();
    for (const Spread& spread : traits.spreads) {
        Json constraint{{"maxSkew", spread.max_skew},
                        {"topologyKey", key_of(spread.level)},
                        {"whenUnsatisfiable", "DoNotSchedule"},
                        {"labelSelector", selector(spread.app)}};
        if (spread.min_domains > 0) constraint["minDomains"] = spread.min_domains;
        out.push_back(constraint);
    }
    return out;
}

Json pod_document(const World& world, const WorldPod& pod) {
    const Traits& traits = pod.traits;
    Json container{
        {"name", "c"}, {"image", "app"}, {"resources", {{"requests", {{"cpu", std::to_string(traits.cpu)}}}}}};
    if (traits.port != 0)
        container["ports"] = Json::array({{{"containerPort", traits.port}, {"hostPort", traits.port}}});
    Json spec{{"priority", traits.priority}, {"containers", Json::array({container})}};
    if (!traits.near.empty()) spec["affinity"] = affinity_of(traits);
    if (!traits.spreads.empty()) spec["topologySpreadConstraints"] = spread_of(traits);
    Json metadata{{"name", pod.name},
                  {"namespace", "default"},
                  {"uid", "uid-" + pod.name},
                  {"labels", {{"app", app_name(traits.app)}}},
                  {"creationTimestamp", time_of(pod.start)}};
    if (pod.gang >= 0) {
        const WorldGang& gang = world.gangs[static_cast<std::size_t>(pod.gang)];
        if (gang.kind == GangKind::kVolcano)
            metadata["annotations"]["scheduling.k8s.io/group-name"] = gang.name;
        else
            spec["schedulingGroup"] = {{"podGroupName", gang.name}};
    }
    if (pod.is_protected) metadata["annotations"]["reprieve.dev/preemptible"] = "false";
    Json status{{"phase", "Pending"}};
    if (pod.node >= 0) {
        spec["nodeName"] = world.nodes[static_cast<std::size_t>(pod.node)].name;
        status = {{"phase", "Running"}, {"startTime", time_of(pod.start)}};
    }
    return {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", metadata}, {"spec", spec}, {"status", status}};
}

Json gang_document(const WorldGang& gang) {
    const Json metadata{{"name", gang.name}, {"namespace", "default"}};
    if (gang.kind == GangKind::kVolcano) {
        return {{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                {"kind", "PodGroup"},
                {"metadata", metadata},
                {"spec", {{"minMember", gang.min}}}};
    }
    const char* mode = gang.kind == GangKind::kCoreAll ? "all" : "single";
    return {
        {"apiVersion", "scheduling.k8s.io/v1beta1"},
        {"kind", "PodGroup"},
        {"metadata", metadata},
        {"spec",
         {{"schedulingPolicy", {{"gang", {{"minCount", gang.min}}}}}, {"disruptionMode", {{mode, Json::object()}}}}}};
}

}  // namespace

std::vector<Json> documents(const World& world) {
    std::vector<Json> out;
    for (const WorldNode& node : world.nodes)
        out.push_back(node_document(node));
    for (const WorldGang& gang : world.gangs)
        out.push_back(gang_document(gang));
    for (const WorldPod& pod : world.pods)
        out.push_back(pod_document(world, pod));
    for (std::size_t b = 0; b < world.budgets.size(); ++b) {
        out.push_back({{"apiVersion", "policy/v1"},
                       {"kind", "PodDisruptionBudget"},
                       {"metadata", {{"name", fmt::format("budget-{}", b)}, {"namespace", "default"}}},
                       {"spec", {{"maxUnavailable", 1}, {"selector", selector(world.budgets[b].app)}}},
                       {"status", {{"disruptionsAllowed", world.budgets[b].allowed}}}});
    }
    return out;
}

Json config(const World& world) {
    const Json args{{"pdb", world.strict_budgets ? "strict" : "bestEffort"}};
    return {{"apiVersion", "reprieve.dev/v1"},
            {"kind", "SchedulerConfig"},
            {"search", {{"threads", 1}}},
            {"actions",
             Json::array({{{"name", "allocate"}},
                          {{"name", "preempt"}, {"args", args}},
                          {{"name", "gangPreempt"}, {"args", args}}})}};
}

}  // namespace reprieve::worlds
