#include "crowded_world.h"

#include <fmt/format.h>

#include <set>
#include <string>

namespace reprieve::property {
namespace {

constexpr const char* kGangOfPod = "scheduling.k8s.io/group-name";
constexpr const char* kQueueOfPod = "scheduling.volcano.sh/queue-name";

Json crowd_node(const std::string& name, const std::string& zone, bool closed) {
    Json out{{"apiVersion", "v1"},
             {"kind", "Node"},
             {"metadata", {{"name", name}, {"labels", {{"kubernetes.io/hostname", name}, {"zone", zone}}}}},
             {"spec", Json::object()},
             {"status", {{"allocatable", {{"cpu", "1000"}, {"memory", "1000Gi"}, {"pods", "1000"}}}}}};
    if (closed) out["spec"]["taints"] = Json::array({{{"key", "closed"}, {"effect", "NoSchedule"}}});
    return out;
}

// Of few kinds: most are tied with many others.
Json crowd_pod(const std::string& name, const std::string& host, int most_priority) {
    const bool running = !host.empty();
    Json pod{
        {"apiVersion", "v1"},
        {"kind", "Pod"},
        {"metadata",
         {{"name", name},
          {"uid", "uid-" + name},
          {"labels", {{"app", "x"}, {"tier", fmt::format("t{}", draw(0, 2))}}},
          {"annotations", Json::object()},
          {"creationTimestamp", "2026-01-01T00:00:00Z"}}},
        {"spec",
         {{"priority", running ? 10 * draw(0, most_priority) : 100},
          {"containers",
           Json::array({{{"name", "c"}, {"resources", {{"requests", {{"cpu", fmt::format("{}m", draw(1, 2))}}}}}}})}}},
        {"status", {{"phase", running ? "Running" : "Pending"}}}};
    if (!running) return pod;
    pod["spec"]["nodeName"] = host;
    pod["status"]["startTime"] = fmt::format("2026-01-01T0{}:00:00Z", draw(0, 1));
    return pod;
}

Json crowd_object(const char* api, const char* kind, const std::string& name, Json spec) {
    return {{"apiVersion", api}, {"kind", kind}, {"metadata", {{"name", name}}}, {"spec", std::move(spec)}};
}

Json crowd_gang(const std::string& name, int members, const std::string& queue) {
    Json spec{{"minMember", members}};
    if (!queue.empty()) spec["queue"] = queue;
    return crowd_object("scheduling.volcano.sh/v1beta1", "PodGroup", name, spec);
}

Json crowd_rack(const std::string& name, int tier, const char* type, const std::set<std::string>& members) {
    Json list = Json::array();
    for (const std::string& member : members)
        list.push_back({{"type", type}, {"selector", {{"exactMatch", {{"name", member}}}}}});
    return crowd_object("topology.volcano.sh/v1alpha1", "HyperNode", name, {{"tier", tier}, {"members", list}});
}

// Of the pods whose tier is one of these.
Json crowd_budget(const std::string& name, const Json& tiers) {
    Json out = crowd_object(
        "policy/v1",
        "PodDisruptionBudget",
        name,
        {{"selector",
          {{"matchExpressions", Json::array({{{"key", "tier"}, {"operator", "In"}, {"values", tiers}}})}}}});
    out["status"] = {{"disruptionsAllowed", draw(0, 2)}};
    return out;
}

void add_overlapping_budgets(std::vector<Json>& world) {
    if (rarely(2)) return;
    world.push_back(crowd_budget("overlaps-1", {"t0", "t1"}));
    world.push_back(crowd_budget("overlaps-2", {"t1", "t2"}));
    world.push_back(crowd_budget("overlaps-3", {"t0", "t2"}));
}

}  // namespace

std::vector<Json> random_crowd() {
    std::vector<Json> world;
    const bool by_limit = rarely(3);
    const int open = draw(1, 2);
    for (int i = 0; i < open; ++i)
        world.push_back(crowd_node(fmt::format("a-{}", i), "a", false));
    world.push_back(crowd_node("a-closed-1", "a", true));
    world.push_back(crowd_node("a-closed-2", "a", true));
    world.push_back(crowd_node("b-closed", "b", true));
    const int most_priority = draw(0, 1);
    const int crowd = draw(257, 300);
    const int spare = draw(1, 3);  // so many too few must go
    const int running_gangs = rarely(2) ? 3 : 0;
    const std::string queue = by_limit ? "narrow" : "";
    const auto enter = [&](Json pod) {
        if (by_limit) pod["metadata"]["annotations"][kQueueOfPod] = queue;
        world.push_back(std::move(pod));
    };
    for (int i = 0; i < running_gangs; ++i)
        world.push_back(crowd_gang(fmt::format("runs-{}", i), draw(1, 3), queue));
    for (int i = 0; i < crowd; ++i) {
        Json pod = crowd_pod(fmt::format("p{:03}", i), rarely(2) ? "a-closed-1" : "a-closed-2", most_priority);
        if (running_gangs > 0 && i % 8 == 0)
            pod["metadata"]["annotations"][kGangOfPod] = fmt::format("runs-{}", draw(0, running_gangs - 1));
        enter(std::move(pod));
    }
    if (!by_limit) world.push_back(crowd_pod("alone", "b-closed", 0));
    if (by_limit)
        world.push_back(crowd_object("scheduling.volcano.sh/v1beta1",
                                     "Queue",
                                     queue,
                                     {{"capability", {{"cpu", fmt::format("{}m", crowd * 3 / 2)}}}}));
    const int members = draw(1, 3);
    const bool together = members > 1 && rarely(2);
    for (int i = 0; i < members; ++i) {
        Json pod = crowd_pod(fmt::format("wants-{}", i), "", 0);
        if (by_limit)
            pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = fmt::format("{}m", draw(1, 6) + crowd / 8);
        else
            pod["spec"]["topologySpreadConstraints"] =
                Json::array({{{"maxSkew", crowd - spare},
                              {"topologyKey", "zone"},
                              {"whenUnsatisfiable", "DoNotSchedule"},
                              {"labelSelector", {{"matchLabels", {{"app", "x"}}}}}}});
        if (together) pod["metadata"]["annotations"][kGangOfPod] = "waits";
        enter(std::move(pod));
    }
    if (together) {
        Json waits = crowd_gang("waits", members, queue);
        if (rarely(2)) {
            waits["spec"]["networkTopology"] = {{"mode", "hard"}, {"highestTierAllowed", 1}};
            world.push_back(crowd_rack("near", 1, "Node", {"a-0"}));
            world.push_back(crowd_rack("far", 1, "Node", {"a-closed-1", "b-closed"}));
        }
        world.push_back(std::move(waits));
    }
    add_overlapping_budgets(world);
    return world;
}

void add_ties(std::vector<Json>& world) {
    static constexpr const char* kOthers[] = {"example.com/a", "example.com/b", "example.org/c"};
    std::set<std::string> racks[2];
    for (Json& document : world) {
        Json& metadata = document["metadata"];
        if (document["kind"] == "Node") {
            for (const char* resource : kOthers) {
                if (!rarely(4)) document["status"]["allocatable"][resource] = std::to_string(draw(2, 6));
            }
            racks[draw(0, 1)].insert(metadata["name"].get<std::string>());
        }
        if (document["kind"] == "PodGroup" && document["apiVersion"] == "scheduling.k8s.io/v1beta1" && rarely(2)) {
            document["apiVersion"] = "scheduling.k8s.io/v1alpha3";
            document["spec"]["parentCompositePodGroupName"] = "all";
        }
        if (document["kind"] == "PodGroup" && document["apiVersion"] == "scheduling.volcano.sh/v1beta1" && rarely(3))
            document["spec"]["networkTopology"] = {{"mode", rarely(3) ? "soft" : "hard"},
                                                   {"highestTierAllowed", draw(1, 2)}};
        if (document["kind"] != "Pod") continue;
        metadata["labels"]["tier"] = fmt::format("t{}", draw(0, 2));
        for (const char* resource : kOthers) {
            if (rarely(4))
                document["spec"]["containers"][0]["resources"]["requests"][resource] = std::to_string(draw(1, 3));
        }
    }
    for (int i = 0; i < 2; ++i) {
        if (!racks[i].empty()) world.push_back(crowd_rack(fmt::format("rack-{}", i), 1, "Node", racks[i]));
    }
    if (!racks[0].empty() && !racks[1].empty())
        world.push_back(crowd_rack("row", 2, "HyperNode", {"rack-0", "rack-1"}));
    Json all = crowd_object(
        "scheduling.k8s.io/v1alpha3", "CompositePodGroup", "all", {{"schedulingPolicy", {{"basic", Json::object()}}}});
    if (rarely(2)) all["spec"]["disruptionMode"] = {{"all", Json::object()}};
    world.push_back(std::move(all));
    add_overlapping_budgets(world);
}

void add_short_searches(Json& config) {
    static constexpr const char* kBudgets[] = {"0ms", "1ms", "5ms"};
    if (rarely(2)) config["search"]["budget"] = kBudgets[draw(0, 2)];
}

}  // namespace reprieve::property
