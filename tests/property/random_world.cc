#include "random_world.h"

#include <fmt/format.h>
#include <rapidcheck.h>

#include <map>

namespace reprieve::property {
namespace {

constexpr const char* kHost = "kubernetes.io/hostname";

std::string letter(int low, int high) { return std::string(1, static_cast<char>('a' + draw(low, high))); }

Json labels_of_app(const std::string& app) { return {{"matchLabels", {{"app", app}}}}; }

Json required(const char* kind, const std::string& app) {
    const Json term{{"labelSelector", labels_of_app(app)}, {"topologyKey", rarely(2) ? "zone" : kHost}};
    return {{kind, {{"requiredDuringSchedulingIgnoredDuringExecution", Json::array({term})}}}};
}

void add_rule(Json& pod) {
    Json& spec = pod["spec"];
    const std::string app = letter(0, 2);
    switch (draw(0, 9)) {
        case 0:
            spec["containers"][0]["ports"] = Json::array({{{"containerPort", 80}, {"hostPort", 80 + draw(0, 1)}}});
            break;
        case 1:
            spec["affinity"] = required("podAntiAffinity", app);
            break;
        case 2:
            spec["affinity"] = required("podAffinity", app);
            break;
        case 3:
            spec["topologySpreadConstraints"] =
                Json::array({{{"maxSkew", draw(1, 2)},
                              {"topologyKey", rarely(2) ? "zone" : kHost},
                              {"whenUnsatisfiable", rarely(4) ? "ScheduleAnyway" : "DoNotSchedule"},
                              {"labelSelector", labels_of_app(app)}}});
            break;
        case 4:
            spec["volumes"] =
                Json::array({{{"name", "v"}, {"persistentVolumeClaim", {{"claimName", "claim-" + letter(0, 4)}}}}});
            if (rarely(3))
                spec["volumes"].push_back({{"name", "w"}, {"persistentVolumeClaim", {{"claimName", "claim-e"}}}});
            break;
        case 5:
            spec["nodeSelector"] = {{"zone", letter(0, 2)}};
            break;
        case 6:
            spec["tolerations"] = Json::array({{{"key", "dedicated"}, {"operator", "Exists"}}});
            break;
        default:
            break;
    }
}

void add_devices(Json& pod, bool running) {
    Json& requests = pod["spec"]["containers"][0]["resources"]["requests"];
    switch (draw(0, 5)) {
        case 0:
            requests["nvidia.com/gpu"] = std::to_string(draw(1, 2));
            break;
        case 1:
            requests["reprieve.dev/gpu-memory"] = fmt::format("{}Gi", draw(1, 4) * 2);
            break;
        case 2:
            requests["reprieve.dev/gpu-milli"] = std::to_string(draw(1, 4) * 250);
            break;
        case 3:
            requests["nvidia.com/gpu"] = std::to_string(draw(1, 2));
            requests["nvidia.com/gpumem"] = std::to_string(draw(1, 4) * 2048);
            if (rarely(2)) requests["nvidia.com/gpucores"] = std::to_string(draw(1, 4) * 25);
            break;
        default:
            return;
    }
    if (running) return;
    if (rarely(3)) pod["metadata"]["annotations"]["reprieve.dev/device-policy"] = "spread";
    if (rarely(3)) pod["metadata"]["annotations"]["reprieve.dev/same-group"] = "true";
}

void add_standing(Json& pod, bool running) {
    Json& annotations = pod["metadata"]["annotations"];
    switch (draw(0, 14)) {
        case 0:
            annotations["reprieve.dev/preemptible"] = "false";
            break;
        case 1:
            annotations["reprieve.dev/min-runtime"] = fmt::format("{}h", draw(1, 12));
            break;
        case 2:
            annotations["reprieve.dev/last-checkpoint"] = fmt::format("2026-01-01T{:02}:30:00Z", draw(0, 11));
            break;
        case 3:
            if (!running) pod["spec"]["preemptionPolicy"] = "Never";
            break;
        case 4:
            if (running)
                pod["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", "apps/v1"},
                                                                   {"kind", "DaemonSet"},
                                                                   {"name", "d"},
                                                                   {"uid", "d"},
                                                                   {"controller", true}}});
            break;
        default:
            break;
    }
}

Json object(const char* api, const char* kind, const std::string& name, Json spec) {
    return {{"apiVersion", api}, {"kind", kind}, {"metadata", {{"name", name}}}, {"spec", std::move(spec)}};
}

Json random_budget(int i) {
    Json budget = object(
        "policy/v1", "PodDisruptionBudget", fmt::format("budget-{}", i), {{"selector", labels_of_app(letter(0, 2))}});
    if (rarely(2))
        budget["status"] = {{"disruptionsAllowed", draw(0, 2)}};
    else
        budget["spec"]["minAvailable"] = draw(0, 3);
    return budget;
}

Json random_queue(int i) {
    Json spec = Json::object();
    if (rarely(2)) spec["capability"] = {{"cpu", std::to_string(draw(2, 12))}};
    if (rarely(2)) spec["deserved"] = {{"cpu", std::to_string(draw(0, 8))}};
    if (rarely(3)) spec["weight"] = draw(1, 3);
    if (rarely(4)) spec["priority"] = draw(0, 2);
    if (rarely(6)) spec["reclaimable"] = false;
    Json queue = object("scheduling.volcano.sh/v1beta1", "Queue", fmt::format("q{}", i), spec);
    if (rarely(8)) queue["status"] = {{"state", "Closed"}};
    return queue;
}

Json random_gang(const std::string& name, bool core, bool queues) {
    if (core) {
        Json spec{{"schedulingPolicy", {{"gang", {{"minCount", draw(1, 3)}}}}}, {"priority", draw(0, 4) * 10}};
        if (rarely(2)) spec["disruptionMode"] = {{rarely(2) ? "all" : "single", Json::object()}};
        if (rarely(3)) spec["schedulingConstraints"] = {{"topology", Json::array({{{"key", "zone"}}})}};
        return object("scheduling.k8s.io/v1beta1", "PodGroup", name, spec);
    }
    Json spec{{"minMember", draw(0, 3)}};
    if (queues && rarely(2)) spec["queue"] = fmt::format("q{}", draw(0, 1));
    return object("scheduling.volcano.sh/v1beta1", "PodGroup", name, spec);
}

void join(Json& pod, const std::string& gang, bool core) {
    if (core)
        pod["spec"]["schedulingGroup"] = {{"podGroupName", gang}};
    else
        pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = gang;
    // A gang's queue is written on its group.
    pod["metadata"]["annotations"].erase("scheduling.volcano.sh/queue-name");
}

void make_terminating(Json& pod) {
    pod["metadata"]["deletionTimestamp"] = "2026-01-01T12:00:20Z";
    if (rarely(2))
        pod["status"]["conditions"] =
            Json::array({{{"type", "DisruptionTarget"}, {"status", "True"}, {"reason", "PreemptionByScheduler"}}});
}

void add_volumes(std::vector<Json>& out) {
    for (const char* name : {"a", "b"}) {
        const Json modes = Json::array({rarely(2) ? "ReadWriteOncePod" : "ReadWriteOnce"});
        const Json size{{"storage", "1Gi"}};
        out.push_back(object("v1",
                             "PersistentVolumeClaim",
                             fmt::format("claim-{}", name),
                             {{"accessModes", modes},
                              {"volumeName", fmt::format("volume-{}", name)},
                              {"resources", {{"requests", size}}}}));
        out.push_back(object("v1",
                             "PersistentVolume",
                             fmt::format("volume-{}", name),
                             {{"accessModes", modes},
                              {"capacity", size},
                              {"claimRef", {{"namespace", "default"}, {"name", fmt::format("claim-{}", name)}}}}));
    }
}

// Claims that are bound when their first pod is placed, and fewer volumes than they would like.
void add_waiting_claims(std::vector<Json>& out) {
    out.push_back({{"apiVersion", "storage.k8s.io/v1"},
                   {"kind", "StorageClass"},
                   {"metadata", {{"name", "waiting"}}},
                   {"provisioner", rarely(4) ? "disk.example.com" : "kubernetes.io/no-provisioner"},
                   {"volumeBindingMode", "WaitForFirstConsumer"}});
    const Json modes = Json::array({"ReadWriteOnce"});
    for (const char* name : {"c", "d", "e"}) {
        out.push_back(object("v1",
                             "PersistentVolumeClaim",
                             fmt::format("claim-{}", name),
                             {{"accessModes", modes},
                              {"storageClassName", "waiting"},
                              {"resources", {{"requests", {{"storage", fmt::format("{}Gi", draw(1, 2))}}}}}}));
    }
    const int volumes = draw(0, 3);
    for (int i = 0; i < volumes; ++i) {
        Json volume = object("v1",
                             "PersistentVolume",
                             fmt::format("free-{}", i),
                             {{"accessModes", modes},
                              {"storageClassName", "waiting"},
                              {"capacity", {{"storage", fmt::format("{}Gi", draw(1, 3))}}}});
        if (rarely(2)) {
            const Json zone{{"key", "zone"}, {"operator", "In"}, {"values", Json::array({letter(0, 2)})}};
            volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"] =
                Json::array({{{"matchExpressions", Json::array({zone})}}});
        }
        out.push_back(std::move(volume));
    }
}

}  // namespace

// Full ranges from the first world on; shrinking still goes towards `low`.
int draw(int low, int high) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, high + 1)); }

bool rarely(int times) { return draw(1, times) == times; }

Json random_node(const std::string& name, const WorldTaste& taste) {
    Json allocatable{
        {"cpu", std::to_string(draw(2, 8))}, {"memory", "16Gi"}, {"pods", std::to_string(rarely(8) ? 3 : 110)}};
    Json node{{"apiVersion", "v1"},
              {"kind", "Node"},
              {"metadata", {{"name", name}, {"labels", {{kHost, name}}}}},
              {"spec", Json::object()}};
    if (!rarely(8)) node["metadata"]["labels"]["zone"] = letter(0, 2);
    if (taste.devices && rarely(2)) {
        const int count = draw(1, 4);
        allocatable["nvidia.com/gpu"] = std::to_string(count);
        Json devices = Json::array();
        for (int i = 0; i < count; ++i)
            devices.push_back({{"index", i}, {"memory", "8Gi"}, {"numa", 0}, {"group", i / 2}});
        if (rarely(3)) {
            // HAMi's register: the node counts shares, each device has so many.
            const int places = draw(1, 3);
            std::string text;
            for (int i = 0; i < count; ++i)
                text += fmt::format("GPU-{},{},8192,100,NVIDIA-A10,0,true:", i, places);
            node["metadata"]["annotations"]["hami.io/node-nvidia-register"] = text;
            allocatable["nvidia.com/gpu"] = std::to_string(count * places);
        } else if (!rarely(4)) {
            node["metadata"]["annotations"]["reprieve.dev/devices"] = devices.dump();
        }
    }
    if (taste.rules && rarely(6))
        node["spec"]["taints"] = Json::array({{{"key", "dedicated"}, {"value", "x"}, {"effect", "NoSchedule"}}});
    if (taste.rules && rarely(10)) node["spec"]["unschedulable"] = true;
    node["status"] = {{"allocatable", allocatable}};
    return node;
}

Json random_pod(const std::string& name, const std::string& node, const WorldTaste& taste) {
    const bool running = !node.empty();
    const Json requests{{"cpu", rarely(10) ? "0" : fmt::format("{}m", draw(1, 6) * 500)},
                        {"memory", fmt::format("{}Gi", draw(0, 4))}};
    Json pod{{"apiVersion", "v1"},
             {"kind", "Pod"},
             {"metadata",
              {{"name", name},
               {"uid", "uid-" + name},
               {"labels", {{"app", letter(0, 2)}}},
               {"annotations", Json::object()},
               {"creationTimestamp", fmt::format("2026-01-01T{:02}:00:00Z", draw(0, 3))}}},
             {"spec",
              {{"priority", draw(0, 4) * 10},
               {"containers", Json::array({{{"name", "c"}, {"resources", {{"requests", requests}}}}})}}},
             {"status", {{"phase", running ? "Running" : "Pending"}}}};
    if (running) {
        pod["spec"]["nodeName"] = node;
        pod["status"]["startTime"] = fmt::format("2026-01-01T{:02}:00:00Z", draw(0, 11));
        // Bound, and its kubelet has not begun with it.
        if (taste.rules && rarely(6)) pod["status"] = {{"phase", "Pending"}};
    }
    if (taste.rules) add_rule(pod);
    if (taste.devices) add_devices(pod, running);
    if (taste.rules) add_standing(pod, running);
    if (taste.queues && rarely(2))
        pod["metadata"]["annotations"]["scheduling.volcano.sh/queue-name"] = fmt::format("q{}", draw(0, 1));
    return pod;
}

std::vector<Json> random_world(const WorldSize& size, const WorldTaste& taste) {
    std::vector<Json> out;
    const int nodes = draw(1, size.nodes);
    for (int i = 0; i < nodes; ++i)
        out.push_back(random_node(fmt::format("n{}", i), taste));
    std::map<std::string, bool> gangs;
    const int gang_count = taste.gangs ? draw(0, 2) : 0;
    for (int i = 0; i < gang_count; ++i) {
        const std::string name = fmt::format("g{}", i);
        gangs[name] = rarely(2);
        out.push_back(random_gang(name, gangs[name], taste.queues));
    }
    if (taste.queues) {
        for (int i = 0; i < 2; ++i)
            out.push_back(random_queue(i));
    }
    const int budgets = draw(0, 2);
    for (int i = 0; i < budgets; ++i)
        out.push_back(random_budget(i));
    if (taste.rules) {
        add_volumes(out);
        add_waiting_claims(out);
    }
    const auto maybe_join = [&](Json& pod) {
        if (gangs.empty() || !rarely(3)) return;
        const auto& [gang, core] = *std::next(gangs.begin(), draw(0, static_cast<int>(gangs.size()) - 1));
        join(pod, gang, core);
    };
    const int running = draw(0, size.running);
    for (int i = 0; i < running; ++i) {
        Json pod = random_pod(fmt::format("r{:02}", i), fmt::format("n{}", draw(0, nodes - 1)), taste);
        maybe_join(pod);
        if (taste.moving && rarely(8)) make_terminating(pod);
        if (taste.moving && rarely(8)) pod["status"]["phase"] = rarely(3) ? "Failed" : "Succeeded";
        out.push_back(std::move(pod));
    }
    const int promised = rarely(3) ? 2 : 6;  // one in so many waits for a place that it was promised
    const int pending = draw(0, size.pending);
    for (int i = 0; i < pending; ++i) {
        Json pod = random_pod(fmt::format("w{:02}", i), "", taste);
        maybe_join(pod);
        if (taste.moving && rarely(promised)) pod["status"]["nominatedNodeName"] = fmt::format("n{}", draw(0, nodes));
        out.push_back(std::move(pod));
    }
    return out;
}

namespace {

Json random_claim() {
    const bool waits = rarely(2);
    Json spec{{"accessModes", Json::array({rarely(2) ? "ReadWriteOncePod" : "ReadWriteOnce"})},
              {"resources", {{"requests", {{"storage", "1Gi"}}}}}};
    if (waits)
        spec["storageClassName"] = "waiting";
    else
        spec["volumeName"] = "volume-" + letter(0, 2);
    return object("v1", "PersistentVolumeClaim", "claim-" + letter(0, 4), spec);
}

Json random_volume() {
    const std::string name = letter(0, 2);
    Json spec{{"accessModes", Json::array({"ReadWriteOnce"})}, {"capacity", {{"storage", "1Gi"}}}};
    if (rarely(2))
        spec["claimRef"] = {{"namespace", "default"}, {"name", "claim-" + name}};
    else
        spec["storageClassName"] = "waiting";
    if (rarely(2)) spec["csi"] = {{"driver", "disk.example.com"}, {"volumeHandle", name}};
    return object("v1", "PersistentVolume", (rarely(2) ? "free-" : "volume-") + name, spec);
}

Json random_controller() {
    const std::string name = letter(0, 1);
    Json out =
        object("apps/v1",
               rarely(2) ? "Deployment" : "ReplicaSet",
               name,
               {{"replicas", draw(0, 3)}, {"selector", labels_of_app(letter(0, 2))}, {"template", Json::object()}});
    if (out["kind"] == "Deployment" && rarely(2)) out["metadata"]["annotations"]["reprieve.dev/desired-replicas"] = "3";
    return out;
}

Json random_quota() {
    Json out = object("scheduling.sigs.k8s.io/v1alpha1",
                      "ElasticQuota",
                      rarely(2) ? "q0" : "default",
                      {{"min", {{"cpu", "2"}}}, {"max", {{"cpu", "20"}}}});
    out["metadata"]["namespace"] = rarely(2) ? "default" : "other";
    return out;
}

}  // namespace

Json random_rarity() {
    switch (draw(0, 12)) {
        case 0: {
            const int number = draw(0, 2);
            Json queue = random_queue(number);
            if (rarely(3)) queue["spec"]["parent"] = fmt::format("q{}", (number + draw(1, 2)) % 3);
            if (rarely(4)) queue["metadata"]["annotations"]["reprieve.dev/min-runtime"] = "3h";
            return queue;
        }
        case 1:
            return random_quota();
        case 2: {
            Json gang = random_gang(fmt::format("g{}", draw(0, 2)), rarely(2), true);
            if (gang["apiVersion"] != "scheduling.volcano.sh/v1beta1" && rarely(2)) {
                gang["apiVersion"] = "scheduling.k8s.io/v1alpha3";
                gang["spec"]["parentCompositePodGroupName"] = "all-" + letter(0, 1);
            }
            return gang;
        }
        case 3: {
            const bool first = rarely(2);
            Json group = object("scheduling.k8s.io/v1alpha3",
                                "CompositePodGroup",
                                first ? "all-a" : "all-b",
                                {{"schedulingPolicy", {{"basic", Json::object()}}}});
            if (rarely(2)) group["spec"]["parentCompositePodGroupName"] = first ? "all-b" : "all-a";
            if (rarely(2)) group["spec"]["priority"] = draw(0, 4) * 10;
            return group;
        }
        case 4:
            return random_budget(draw(0, 2));
        case 5:
            return random_claim();
        case 6:
            return random_volume();
        case 7:
            return {{"apiVersion", "storage.k8s.io/v1"},
                    {"kind", "StorageClass"},
                    {"metadata", {{"name", "waiting"}}},
                    {"provisioner", "disk.example.com"},
                    {"volumeBindingMode", rarely(2) ? "Immediate" : "WaitForFirstConsumer"}};
        case 8:
            return {{"apiVersion", "scheduling.k8s.io/v1"},
                    {"kind", "PriorityClass"},
                    {"metadata", {{"name", "class-" + letter(0, 1)}}},
                    {"value", draw(0, 4) * 10},
                    {"globalDefault", rarely(2)}};
        case 9:
            return {{"apiVersion", "v1"},
                    {"kind", "Namespace"},
                    {"metadata", {{"name", "default"}, {"labels", {{"team", letter(0, 1)}}}}}};
        case 10:
            return random_controller();
        case 11:
            return object(
                "topology.volcano.sh/v1alpha1",
                "HyperNode",
                "rack-" + letter(0, 1),
                {{"tier", 1},
                 {"members",
                  Json::array({{{"type", "Node"},
                                {"selector", {{"exactMatch", {{"name", fmt::format("n{}", draw(0, 5))}}}}}}})}});
        default:
            return object("reprieve.dev/v1alpha1",
                          "ServingDeployment",
                          "serves",
                          {{"replicas", draw(0, 3)}, {"priority", draw(0, 4)}});
    }
}

Json random_config() {
    const bool improve = !rarely(3);
    const char* pdb = rarely(3) ? "strict" : "bestEffort";
    const Json evicts{{"improve", improve}, {"pdb", pdb}};
    Json preempt = evicts;
    Json gang = evicts;
    if (rarely(3)) preempt["crossQueue"] = true;
    if (rarely(3)) gang["crossQueue"] = true;
    if (rarely(4)) gang["disruption"] = "local";
    if (rarely(6)) preempt["minCandidateNodesAbsolute"] = 1;
    Json actions = Json::array({{{"name", "allocate"}}});
    if (!rarely(4)) actions.push_back({{"name", "preempt"}, {"args", preempt}});
    if (!rarely(4)) actions.push_back({{"name", "gangPreempt"}, {"args", gang}});
    if (!rarely(3)) actions.push_back({{"name", "gangReclaim"}, {"args", evicts}});
    if (rarely(3)) actions.push_back({{"name", "backfill"}});
    Json config{{"actions", actions}};
    if (rarely(4)) config["plugins"] = {{"args", {{"lostWork", {{"resource", "cpu"}}}}}};
    return config;
}

}  // namespace reprieve::property
