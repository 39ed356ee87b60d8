#include "manifests.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "foreign.h"

namespace reprieve::worlds {
namespace {

constexpr const char* kHostKey = "kubernetes.io/hostname";
constexpr const char* kZoneKey = "topology.kubernetes.io/zone";

constexpr const char* kDeviceApi = "resource.k8s.io/v1";
constexpr const char* kDriver = "gpu.example.com";
constexpr const char* kNetworkPool = "network";

const char* key_of(Level level) { return level == Level::kHost ? kHostKey : kZoneKey; }
std::string app_name(int app) { return std::string(1, static_cast<char>('a' + app)); }
std::string pool_name(int pool) { return fmt::format("pool-{}", pool); }
std::string claim_name(int claim) { return fmt::format("claim-{}", claim); }
std::string queue_name(int queue) { return fmt::format("q{}", queue); }
std::string class_name(int priority) { return fmt::format("class-{}", priority); }
Json selector(int app) { return {{"matchLabels", {{"app", app_name(app)}}}}; }

std::string time_of(int seconds) {
    return fmt::format("2026-01-01T{:02}:{:02}:{:02}Z", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

Json object(const char* version, const char* kind, const std::string& name) {
    return {{"apiVersion", version}, {"kind", kind}, {"metadata", {{"name", name}, {"namespace", "default"}}}};
}

Json cluster_object(const char* version, const char* kind, const std::string& name) {
    return {{"apiVersion", version}, {"kind", kind}, {"metadata", {{"name", name}}}};
}

std::string hami_register(const WorldNode& node) {
    std::string out;
    for (int d = 0; d < node.devices; ++d)
        out += fmt::format("GPU-{},{},{},100,NVIDIA-A10,0,true:", d, node.places, 1024 * kDeviceMemory);
    return out;
}

Json node_document(const World& world, const WorldNode& node) {
    Json out = cluster_object("v1", "Node", node.name);
    out["metadata"]["labels"] = {{kHostKey, node.name}};
    if (node.zone >= 0) out["metadata"]["labels"][kZoneKey] = fmt::format("z{}", node.zone);
    if (world.drawn_with(Rule::kPools)) out["metadata"]["labels"]["pool"] = pool_name(node.pool);
    if (node.cordoned) out["spec"]["unschedulable"] = true;
    if (node.tainted)
        out["spec"]["taints"] = Json::array({{{"key", "special"}, {"value", "yes"}, {"effect", "NoSchedule"}}});
    Json room{{"cpu", std::to_string(node.cpu)}, {"pods", std::to_string(node.pods)}};
    if (node.memory > 0) room["memory"] = fmt::format("{}Gi", node.memory);
    if (node.devices > 0 && !world.by_claim)
        room["nvidia.com/gpu"] = std::to_string(node.devices * std::max(node.places, 1));
    out["status"]["allocatable"] = room;
    if (node.devices == 0 || !node.describes || world.by_claim) return out;
    if (node.places > 0) {
        out["metadata"]["annotations"]["hami.io/node-nvidia-register"] = hami_register(node);
        return out;
    }
    Json devices = Json::array();
    for (int d = 0; d < node.devices; ++d) {
        devices.push_back({{"index", d},
                           {"memory", fmt::format("{}Gi", kDeviceMemory)},
                           {"numa", 0},
                           {"group", d / node.group_size}});
    }
    out["metadata"]["annotations"]["reprieve.dev/devices"] = devices.dump();
    return out;
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
        if (spread.any_pool) constraint["nodeAffinityPolicy"] = "Ignore";
        if (spread.heeds_taints) constraint["nodeTaintsPolicy"] = "Honor";
        if (spread.min_domains > 0) constraint["minDomains"] = spread.min_domains;
        out.push_back(constraint);
    }
    return out;
}

Json container_of(const World& world, const Traits& traits) {
    Json requests{{"cpu", std::to_string(traits.cpu)}};
    if (traits.memory > 0) requests["memory"] = fmt::format("{}Gi", traits.memory);
    if (traits.gpus > 0 && (!world.by_claim || world.by_extended_resource))
        requests["nvidia.com/gpu"] = std::to_string(traits.gpus);
    if (traits.counted) {
        requests["nvidia.com/gpu"] = "1";
        requests["nvidia.com/gpumem"] = std::to_string(1024 * traits.gpu_memory);
        requests["nvidia.com/gpucores"] = std::to_string(traits.gpu_milli / 10);
    } else {
        if (traits.gpu_milli > 0) requests["reprieve.dev/gpu-milli"] = std::to_string(traits.gpu_milli);
        if (traits.gpu_memory > 0) requests["reprieve.dev/gpu-memory"] = fmt::format("{}Gi", traits.gpu_memory);
    }
    Json out{{"name", "c"}, {"image", "app"}, {"resources", {{"requests", requests}}}};
    if (traits.port != 0) out["ports"] = Json::array({{{"containerPort", traits.port}, {"hostPort", traits.port}}});
    return out;
}

std::string held_devices(const WorldPod& pod) {
    std::string out;
    for (int d = 0; d < 32; ++d) {
        if (!has(pod.devices, d)) continue;
        if (pod.traits.counted)
            return fmt::format("GPU-{},NVIDIA,{},{}:;", d, 1024 * pod.traits.gpu_memory, pod.traits.gpu_milli / 10);
        out += fmt::format("{}{}", out.empty() ? "" : ",", d);
        if (pod.traits.gpu_milli > 0) out += fmt::format(":{}m", pod.traits.gpu_milli);
        if (pod.traits.gpu_memory > 0) out += fmt::format(":{}Gi", pod.traits.gpu_memory);
    }
    return out;
}

std::string held_claim(const std::string& owner) { return "held-" + owner; }

// Those who run have a claim, those who wait get one from a template, or from us.
void name_claim(const World& world, const WorldPod& pod, Json& spec, Json& status) {
    if (world.by_extended_resource) {
        if (pod.node >= 0) status["extendedResourceClaimStatus"] = {{"resourceClaimName", held_claim(pod.name)}};
        return;
    }
    Json entry{{"name", "gpus"}};
    if (pod.node >= 0)
        entry["resourceClaimName"] = held_claim(claim_of(world, pod));
    else
        entry["resourceClaimTemplateName"] = fmt::format("gpus-{}", pod.traits.gpus);
    spec["resourceClaims"] = Json::array({entry});
}

Json pod_document(const World& world, const WorldPod& pod) {
    const Traits& traits = pod.traits;
    Json out = object("v1", "Pod", pod.name);
    Json& metadata = out["metadata"];
    metadata["uid"] = "uid-" + pod.name;
    metadata["labels"] = {{"app", app_name(traits.app)}};
    metadata["creationTimestamp"] = time_of(pod.start);
    Json spec{{"priority", traits.priority}, {"containers", Json::array({container_of(world, traits)})}};
    if (!traits.near.empty()) spec["affinity"] = affinity_of(traits);
    if (traits.pool >= 0) spec["nodeSelector"] = {{"pool", pool_name(traits.pool)}};
    if (traits.tolerates) spec["tolerations"] = Json::array({{{"key", "special"}, {"operator", "Exists"}}});
    if (!traits.spreads.empty()) spec["topologySpreadConstraints"] = spread_of(traits);
    if (traits.claim >= 0)
        spec["volumes"] =
            Json::array({{{"name", "data"}, {"persistentVolumeClaim", {{"claimName", claim_name(traits.claim)}}}}});
    const bool volcano = pod.gang >= 0 && world.gang(pod.gang).kind == GangKind::kVolcano;
    if (volcano) metadata["annotations"]["scheduling.k8s.io/group-name"] = world.gang(pod.gang).name;
    if (pod.gang >= 0 && !volcano) spec["schedulingGroup"] = {{"podGroupName", world.gang(pod.gang).name}};
    if (traits.queue >= 0) metadata["annotations"]["scheduling.volcano.sh/queue-name"] = queue_name(traits.queue);
    if (traits.same_group) metadata["annotations"]["reprieve.dev/same-group"] = "true";
    const char* words = traits.counted ? "hami.io/vgpu-devices-allocated" : "reprieve.dev/devices";
    if (pod.devices != 0 && !pod.unwritten && !world.by_claim) metadata["annotations"][words] = held_devices(pod);
    if (pod.leaves) {
        metadata["deletionTimestamp"] = time_of(kNow + 20);
        metadata["deletionGracePeriodSeconds"] = 30;
    }
    if (pod.is_protected) metadata["annotations"]["reprieve.dev/preemptible"] = "false";
    out["status"] = {{"phase", "Pending"}};
    if (pod.node >= 0) {
        spec["nodeName"] = world.node(pod.node).name;
        out["status"] = {{"phase", "Running"}, {"startTime", time_of(pod.start)}};
    }
    if (world.by_claim && (traits.gpus > 0 || !claim_of(world, pod).empty()))
        name_claim(world, pod, spec, out["status"]);
    out["spec"] = spec;
    return out;
}

int queue_of(const World& world, int gang) {
    const auto member = std::ranges::find(world.pods, gang, &WorldPod::gang);
    return member == world.pods.end() ? -1 : member->traits.queue;
}

Json gang_document(const World& world, int g) {
    const WorldGang& gang = world.gang(g);
    if (gang.kind == GangKind::kVolcano) {
        Json out = object("scheduling.volcano.sh/v1beta1", "PodGroup", gang.name);
        out["spec"]["minMember"] = gang.min;
        if (gang.priority) out["spec"]["priorityClassName"] = class_name(*gang.priority);
        if (const int queue = queue_of(world, g); queue >= 0) out["spec"]["queue"] = queue_name(queue);
        if (gang.together == Together::kRack)
            out["spec"]["networkTopology"] = {{"mode", "hard"}, {"highestTierAllowed", 1}};
        return out;
    }
    Json out = object("scheduling.k8s.io/v1beta1", "PodGroup", gang.name);
    out["spec"]["schedulingPolicy"] = {{"gang", {{"minCount", gang.min}}}};
    out["spec"]["disruptionMode"][gang.kind == GangKind::kCoreAll ? "all" : "single"] = Json::object();
    if (gang.priority) out["spec"]["priorityClassName"] = class_name(*gang.priority);
    if (gang.together == Together::kZone)
        out["spec"]["schedulingConstraints"]["topology"] = Json::array({{{"key", kZoneKey}}});
    return out;
}

void add_classes(const World& world, std::vector<Json>& out) {
    std::set<int> values;
    for (const WorldGang& gang : world.gangs) {
        if (gang.priority) values.insert(*gang.priority);
    }
    for (int value : values) {
        Json document = cluster_object("scheduling.k8s.io/v1", "PriorityClass", class_name(value));
        document["value"] = value;
        out.push_back(document);
    }
}

void add_racks(const World& world, std::vector<Json>& out) {
    if (std::ranges::find(world.gangs, Together::kRack, &WorldGang::together) == world.gangs.end()) return;
    std::map<int, Json> racks;
    for (const WorldNode& node : world.nodes)
        racks[node.rack].push_back({{"type", "Node"}, {"selector", {{"exactMatch", {{"name", node.name}}}}}});
    for (const auto& [rack, members] : racks) {
        Json document = cluster_object("topology.volcano.sh/v1alpha1", "HyperNode", fmt::format("rack-{}", rack));
        document["spec"] = {{"tier", 1}, {"members", members}};
        out.push_back(document);
    }
}

void add_claims(const World& world, std::vector<Json>& out) {
    for (int c = 0; c < static_cast<int>(world.claims.size()); ++c) {
        const WorldClaim& claim = world.claims[static_cast<std::size_t>(c)];
        const Json modes = Json::array({claim.one_pod ? "ReadWriteOncePod" : "ReadWriteOnce"});
        const std::string volume = fmt::format("volume-{}", c);
        Json pv = cluster_object("v1", "PersistentVolume", volume);
        pv["spec"] = {{"accessModes", modes},
                      {"capacity", {{"storage", "1Gi"}}},
                      {"claimRef", {{"namespace", "default"}, {"name", claim_name(c)}}}};
        if (claim.node >= 0) {
            const Json here{
                {"key", kHostKey}, {"operator", "In"}, {"values", Json::array({world.node(claim.node).name})}};
            pv["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"] =
                Json::array({{{"matchExpressions", Json::array({here})}}});
        }
        pv["status"]["phase"] = "Bound";
        Json pvc = object("v1", "PersistentVolumeClaim", claim_name(c));
        pvc["spec"] = {
            {"accessModes", modes}, {"volumeName", volume}, {"resources", {{"requests", {{"storage", "1Gi"}}}}}};
        pvc["status"]["phase"] = "Bound";
        out.push_back(pv);
        out.push_back(pvc);
    }
}

Json devices_wanted(int count) {
    return {
        {"devices",
         {{"requests", Json::array({{{"name", "r"}, {"exactly", {{"deviceClassName", "gpu"}, {"count", count}}}}})}}}};
}

// Of the pods that use it, the first.
void add_device_claim(const World& world, const WorldPod& pod, std::vector<Json>& out) {
    const std::string& node = world.node(pod.node).name;
    const std::string owner = claim_of(world, pod);
    Json claim = object(kDeviceApi, "ResourceClaim", held_claim(owner));
    if (world.by_extended_resource)
        claim["metadata"]["annotations"] = {{"resource.kubernetes.io/extended-resource-claim", "true"}};
    claim["spec"] = devices_wanted(std::max(1, std::popcount(pod.devices)));
    Json results = Json::array();
    for (int d = 0; d < 32; ++d) {
        if (has(pod.devices, d))
            results.push_back({{"request", "r"},
                               {"driver", kDriver},
                               {"pool", world.by_network ? kNetworkPool : node},
                               {"device", fmt::format("gpu-{}", d)}});
    }
    claim["status"]["allocation"] = {{"devices", {{"results", results}}}};
    if (!world.by_network) {
        const Json here{{"key", "metadata.name"}, {"operator", "In"}, {"values", Json::array({node})}};
        claim["status"]["allocation"]["nodeSelector"] = {
            {"nodeSelectorTerms", Json::array({{{"matchFields", Json::array({here})}}})}};
    }
    claim["status"]["reservedFor"] = Json::array();
    for (const WorldPod& user : world.pods) {
        if (claim_of(world, user) == owner)
            claim["status"]["reservedFor"].push_back(
                {{"resource", "pods"}, {"name", user.name}, {"uid", "uid-" + user.name}});
    }
    out.push_back(claim);
}

// A selector that asks for an attribute fails where there is none.
Json device_offer(const WorldNode& node, int device) {
    Json out{{"name", fmt::format("gpu-{}", device)}};
    if (!has(node.failing, device)) out["attributes"]["good"] = {{"bool", true}};
    if (node.units > 0) {
        const Json units{{"units", {{"value", std::to_string(node.units_of(bit(device)))}}}};
        out["consumesCounters"] = Json::array({{{"counterSet", "card"}, {"counters", units}}});
    }
    return out;
}

void add_device_claims(const World& world, std::vector<Json>& out) {
    if (!world.by_claim) return;
    Json device_class = cluster_object(kDeviceApi, "DeviceClass", "gpu");
    const bool fails = std::ranges::any_of(world.nodes, [](const WorldNode& node) { return node.failing != 0; });
    const std::string selector = fmt::format(
        "device.driver == '{0}'{1}", kDriver, fails ? fmt::format(" && device.attributes['{}'].good", kDriver) : "");
    device_class["spec"]["selectors"] = Json::array({{{"cel", {{"expression", selector}}}}});
    if (world.by_extended_resource) device_class["spec"]["extendedResourceName"] = "nvidia.com/gpu";
    out.push_back(device_class);
    for (int count : {1, 2}) {
        Json made = object(kDeviceApi, "ResourceClaimTemplate", fmt::format("gpus-{}", count));
        made["spec"]["spec"] = devices_wanted(count);
        out.push_back(made);
    }
    for (const WorldNode& node : world.nodes) {
        const std::string pool = world.by_network ? kNetworkPool : node.name;
        Json slice = cluster_object(kDeviceApi, "ResourceSlice", "slice-" + pool);
        slice["spec"] = {{"driver", kDriver},
                         {"pool", {{"name", pool}, {"generation", 1}, {"resourceSliceCount", node.units > 0 ? 2 : 1}}},
                         {"devices", Json::array()}};
        if (world.by_network)
            slice["spec"]["allNodes"] = true;
        else
            slice["spec"]["nodeName"] = node.name;
        for (int d = 0; d < node.devices; ++d)
            slice["spec"]["devices"].push_back(device_offer(node, d));
        out.push_back(slice);
        if (world.by_network) break;
        if (node.units == 0) continue;
        slice["metadata"]["name"] = "card-" + pool;
        slice["spec"].erase("devices");
        const Json units{{"units", {{"value", std::to_string(node.units)}}}};
        slice["spec"]["sharedCounters"] = Json::array({{{"name", "card"}, {"counters", units}}});
        out.push_back(slice);
    }
    std::set<std::string> written;
    for (const WorldPod& pod : world.pods) {
        const std::string owner = claim_of(world, pod);
        if (!owner.empty() && written.insert(owner).second) add_device_claim(world, pod, out);
    }
}

// Without labels, so that no topology knows it: without room, or closed. Some names come before all others.
void add_idle_node(int n, std::vector<Json>& out) {
    Json node = cluster_object("v1", "Node", fmt::format("{}{}", n % 3 == 0 ? "a" : "x", n));
    node["status"]["allocatable"] = {{"cpu", "8"}, {"memory", "8Gi"}, {"pods", "110"}};
    if (n % 2 == 0) node["spec"]["unschedulable"] = true;
    out.push_back(node);
    if (n % 2 == 0) return;
    Json pod = object("v1", "Pod", fmt::format("stays{}", n));
    pod["metadata"]["annotations"]["reprieve.dev/preemptible"] = "false";
    const Json requests{{"cpu", "8"}, {"memory", "8Gi"}};
    pod["spec"] = {
        {"nodeName", node["metadata"]["name"]},
        {"priority", 0},
        {"containers", Json::array({{{"name", "c"}, {"image", "app"}, {"resources", {{"requests", requests}}}}})}};
    pod["status"] = {{"phase", "Running"}, {"startTime", time_of(100)}};
    out.push_back(pod);
}

void add_queues(const World& world, std::vector<Json>& out) {
    for (int q = 0; q < static_cast<int>(world.queues.size()); ++q) {
        const WorldQueue& queue = world.queues[static_cast<std::size_t>(q)];
        Json document = cluster_object("scheduling.volcano.sh/v1beta1", "Queue", queue_name(q));
        document["spec"]["weight"] = 1;
        if (queue.parent >= 0) document["spec"]["parent"] = queue_name(queue.parent);
        if (queue.cpu_limit > 0) document["spec"]["capability"]["cpu"] = std::to_string(queue.cpu_limit);
        out.push_back(document);
    }
}

}  // namespace

std::vector<Json> documents(const World& world) {
    std::vector<Json> out;
    add_classes(world, out);
    for (const WorldNode& node : world.nodes)
        out.push_back(node_document(world, node));
    add_racks(world, out);
    add_queues(world, out);
    add_claims(world, out);
    add_device_claims(world, out);
    for (int g = 0; g < static_cast<int>(world.gangs.size()); ++g) {
        if (std::ranges::find(world.pods, g, &WorldPod::gang) != world.pods.end())
            out.push_back(gang_document(world, g));
    }
    for (const WorldPod& pod : world.pods)
        out.push_back(pod_document(world, pod));
    for (int n = 0; n < world.idle_nodes; ++n)
        add_idle_node(n, out);
    for (std::size_t b = 0; b < world.budgets.size(); ++b) {
        Json document = object("policy/v1", "PodDisruptionBudget", fmt::format("budget-{}", b));
        document["spec"] = {{"maxUnavailable", 1}, {"selector", selector(world.budgets[b].app)}};
        document["status"]["disruptionsAllowed"] = world.budgets[b].allowed;
        out.push_back(document);
    }
    add_foreign_rules(world, out);
    return out;
}

Json config_to_allocate() {
    return {{"apiVersion", "reprieve.dev/v1"},
            {"kind", "SchedulerConfig"},
            {"actions", Json::array({{{"name", "allocate"}}})}};
}

Json config(const World& world) {
    Json args{{"pdb", world.strict_budgets ? "strict" : "bestEffort"}};
    if (world.cross_queue) args["crossQueue"] = true;
    if (!world.cost.empty()) args["cost"] = world.cost;
    if (world.literal) args["improve"] = false;
    Json of_gangs = args;
    if (world.max_domains > 0) of_gangs["maxDomains"] = world.max_domains;
    Json out{{"apiVersion", "reprieve.dev/v1"},
             {"kind", "SchedulerConfig"},
             {"search", {{"threads", 1}}},
             {"actions",
              Json::array({{{"name", "allocate"}},
                           {{"name", "preempt"}, {"args", args}},
                           {{"name", "gangPreempt"}, {"args", of_gangs}}})}};
    if (world.budget > 0) out["search"]["budget"] = fmt::format("{}us", world.budget);
    if (std::ranges::find(world.cost, "lostWork") != world.cost.end())
        out["plugins"]["args"]["lostWork"]["resource"] = !world.by_claim              ? "cpu"
                                                         : world.by_extended_resource ? "nvidia.com/gpu"
                                                                                      : "gpu";
    return out;
}

}  // namespace reprieve::worlds
