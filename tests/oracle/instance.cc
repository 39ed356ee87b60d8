#include "instance.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <map>

namespace reprieve::oracle {
namespace {

Json requests_of(const Amounts& ask) {
    Json out{{"cpu", std::to_string(ask[0])}, {"memory", fmt::format("{}Gi", ask[1])}};
    if (ask[2] > 0) out["nvidia.com/gpu"] = std::to_string(ask[2]);
    return out;
}

Json pod_document(const std::string& name, std::int64_t priority, const Amounts& ask) {
    return {{"apiVersion", "v1"},
            {"kind", "Pod"},
            {"metadata", {{"name", name}, {"labels", Json::object()}, {"annotations", Json::object()}}},
            {"spec",
             {{"priority", priority},
              {"containers", Json::array({{{"name", "c"}, {"resources", {{"requests", requests_of(ask)}}}}})}}}};
}

std::string start_text(std::int64_t minutes) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(start_seconds(minutes))));
}

std::string role_name(int role) { return fmt::format("role-{}", role); }

Json gang_document(const RunningGang& gang) {
    if (gang.mode != GangMode::kVolcano) {
        const char* mode = gang.mode == GangMode::kCoreAll ? "all" : "single";
        return {{"apiVersion", "scheduling.k8s.io/v1beta1"},
                {"kind", "PodGroup"},
                {"metadata", {{"name", gang.name}}},
                {"spec",
                 {{"schedulingPolicy", {{"gang", {{"minCount", gang.min}}}}},
                  {"disruptionMode", {{mode, Json::object()}}}}}};
    }
    Json spec{{"minMember", gang.min}};
    for (std::size_t role = 0; role < gang.role_minimums.size(); ++role)
        spec["minTaskMember"][role_name(static_cast<int>(role))] = gang.role_minimums[role];
    return {{"apiVersion", "scheduling.volcano.sh/v1beta1"},
            {"kind", "PodGroup"},
            {"metadata", {{"name", gang.name}}},
            {"spec", spec}};
}

constexpr const char* kQuotaLabel = "quota.scheduling.koordinator.sh/";

// Which quota or queue the pod is in, and how it is counted there.
void join_quota(const Instance& instance, int at, bool is_fixed, Json& pod) {
    if (at < 0) return;
    const Quota& quota = instance.quotas[static_cast<std::size_t>(at)];
    Json& meta = pod["metadata"];
    if (!quota.elastic)
        meta["annotations"]["scheduling.volcano.sh/queue-name"] = quota.name;
    else
        meta["labels"][std::string(kQuotaLabel) + "name"] = quota.name;
    if (is_fixed) meta["labels"][std::string(kQuotaLabel) + "preemptible"] = "false";
}

Json amounts_of(const Quota& quota, const Amounts& amounts) {
    constexpr std::array<const char*, kDims> kNames{"cpu", "memory", "nvidia.com/gpu"};
    Json out = Json::object();
    for (std::size_t d = 0; d < kDims; ++d) {
        if (quota.managed[d]) out[kNames[d]] = fmt::format("{}{}", amounts[d], d == 1 ? "Gi" : "");
    }
    return out;
}

Json quota_document(const Instance& instance, const Quota& quota) {
    const std::string parent = quota.parent < 0 ? "" : instance.quotas[static_cast<std::size_t>(quota.parent)].name;
    if (quota.elastic) {
        Json labels = Json::object();
        if (!parent.empty()) labels[std::string(kQuotaLabel) + "parent"] = parent;
        return {{"apiVersion", "scheduling.sigs.k8s.io/v1alpha1"},
                {"kind", "ElasticQuota"},
                {"metadata", {{"name", quota.name}, {"namespace", "quotas"}, {"labels", labels}}},
                {"spec", {{"min", amounts_of(quota, quota.least)}, {"max", amounts_of(quota, quota.most)}}}};
    }
    Json spec{{"capability", amounts_of(quota, quota.most)}};
    if (!parent.empty()) spec["parent"] = parent;
    return {{"apiVersion", "scheduling.volcano.sh/v1beta1"},
            {"kind", "Queue"},
            {"metadata", {{"name", quota.name}}},
            {"spec", spec}};
}

Json running_document(const Instance& instance, const RunningPod& pod) {
    Json out = pod_document(pod.name, pod.priority, pod.ask);
    Json& meta = out["metadata"];
    if (pod.app >= 0) meta["labels"]["app"] = fmt::format("app-{}", pod.app);
    if (pod.is_protected) meta["annotations"]["reprieve.dev/preemptible"] = "false";
    join_quota(instance, pod.quota, pod.is_fixed, out);
    if (pod.role >= 0) meta["annotations"]["volcano.sh/task-spec"] = role_name(pod.role);
    if (pod.gang >= 0) {
        const RunningGang& gang = instance.gangs[static_cast<std::size_t>(pod.gang)];
        if (gang.mode == GangMode::kVolcano)
            meta["annotations"]["scheduling.k8s.io/group-name"] = gang.name;
        else
            out["spec"]["schedulingGroup"] = {{"podGroupName", gang.name}};
    }
    out["spec"]["nodeName"] = instance.nodes[static_cast<std::size_t>(pod.node)].name;
    out["status"] = {{"phase", "Running"}, {"startTime", start_text(pod.start)}};
    return out;
}

Json member_of(const char* type, const std::string& name) {
    return {{"type", type}, {"selector", {{"exactMatch", {{"name", name}}}}}};
}

Json hyper_node(const std::string& name, int tier, Json members) {
    return {{"apiVersion", "topology.volcano.sh/v1alpha1"},
            {"kind", "HyperNode"},
            {"metadata", {{"name", name}}},
            {"spec", {{"tier", tier}, {"members", std::move(members)}}}};
}

void add_topology(const Instance& instance, std::vector<Json>& out) {
    std::map<int, Json> racks;
    std::map<int, std::map<int, Json>> rows;
    for (const HostNode& node : instance.nodes) {
        racks[node.rack].push_back(member_of("Node", node.name));
        rows[node.row][node.rack] = member_of("HyperNode", fmt::format("rack-{}", node.rack));
    }
    for (auto& [rack, members] : racks)
        out.push_back(hyper_node(fmt::format("rack-{}", rack), 1, std::move(members)));
    for (auto& [row, by_rack] : rows) {
        Json members;
        for (auto& [rack, member] : by_rack)
            members.push_back(std::move(member));
        out.push_back(hyper_node(fmt::format("row-{}", row), 2, std::move(members)));
    }
}

void add_demand(const Instance& instance, std::vector<Json>& out) {
    const Demand& demand = instance.demand;
    if (!demand.is_gang) {
        out.push_back(pod_document("newcomer", demand.priority, demand.members.front()));
        join_quota(instance, demand.quota, demand.is_fixed, out.back());
        return;
    }
    Json spec{{"minMember", demand.members.size()}};
    if (demand.tier > 0) spec["networkTopology"] = {{"mode", "hard"}, {"highestTierAllowed", demand.tier}};
    out.push_back({{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                   {"kind", "PodGroup"},
                   {"metadata", {{"name", "newcomer"}}},
                   {"spec", spec}});
    const std::size_t all = demand.members.size() + static_cast<std::size_t>(demand.surplus);
    for (std::size_t i = 0; i < all; ++i) {
        const Amounts& ask = demand.members[std::min(i, demand.members.size() - 1)];
        Json pod = pod_document(fmt::format("newcomer-{:03}", i), demand.priority, ask);
        pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = "newcomer";
        join_quota(instance, demand.quota, demand.is_fixed, pod);
        out.push_back(std::move(pod));
    }
}

}  // namespace

std::vector<Json> Instance::documents() const {
    std::vector<Json> out;
    for (const HostNode& node : nodes) {
        Json allocatable = requests_of(node.size);
        allocatable["pods"] = "110";
        out.push_back({{"apiVersion", "v1"},
                       {"kind", "Node"},
                       {"metadata", {{"name", node.name}}},
                       {"status", {{"allocatable", allocatable}}}});
    }
    if (demand.tier > 0) add_topology(*this, out);
    for (const Quota& quota : quotas)
        out.push_back(quota_document(*this, quota));
    for (const RunningGang& gang : gangs)
        out.push_back(gang_document(gang));
    for (const RunningPod& pod : pods)
        out.push_back(running_document(*this, pod));
    for (const Budget& budget : budgets) {
        const std::string app = fmt::format("app-{}", budget.app);
        out.push_back({{"apiVersion", "policy/v1"},
                       {"kind", "PodDisruptionBudget"},
                       {"metadata", {{"name", app}}},
                       {"spec", {{"selector", {{"matchLabels", {{"app", app}}}}}}},
                       {"status", {{"disruptionsAllowed", budget.allowed}}}});
    }
    add_demand(*this, out);
    return out;
}

}  // namespace reprieve::oracle
