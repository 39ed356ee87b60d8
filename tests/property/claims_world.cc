#include "claims_world.h"

#include <fmt/format.h>

#include <map>

namespace reprieve::property {
namespace {

constexpr const char* kDriver = "gpu.example.com";
constexpr const char* kGroup = "resource.k8s.io/v1";
constexpr int kClaimNodes = 4;

std::string node_name(int at) { return fmt::format("n{}", at); }

Json named(const char* api, const char* kind, const std::string& name, bool namespaced = false) {
    Json out{{"apiVersion", api}, {"kind", kind}, {"metadata", {{"name", name}}}};
    if (namespaced) out["metadata"]["namespace"] = "default";
    return out;
}

Json node(int at) {
    Json out = named("v1", "Node", node_name(at));
    out["metadata"]["labels"] = {{"zone", rarely(2) ? "a" : "b"}};
    out["status"] = {{"allocatable", {{"cpu", "16"}, {"memory", "64Gi"}, {"pods", "20"}}},
                     {"conditions", Json::array({{{"type", "Ready"}, {"status", "True"}}})}};
    if (rarely(5)) out["status"]["allocatable"]["example.com/gpu"] = "2";
    return out;
}

Json device(int at) {
    Json out{{"name", fmt::format("d{}", at)},
             {"attributes",
              {{"model", {{"string", rarely(2) ? "a" : "b"}}}, {"index", {{"int", at}}}, {"board", {{"int", at / 2}}}}},
             {"capacity", {{"memory", {{"value", rarely(2) ? "40Gi" : "80Gi"}}}}}};
    if (rarely(6)) out["attributes"].erase("model");
    if (rarely(8)) out["taints"] = Json::array({{{"key", "sick"}, {"effect", "NoSchedule"}}});
    if (rarely(5)) out["allowMultipleAllocations"] = true;
    return out;
}

Json slice(const std::string& name, const std::string& pool, Json reach, int devices) {
    Json out = named(kGroup, "ResourceSlice", name);
    out["spec"] = {{"driver", kDriver}, {"pool", {{"name", pool}, {"generation", 1}, {"resourceSliceCount", 1}}}};
    out["spec"].update(reach);
    out["spec"]["devices"] = Json::array();
    for (int at = 0; at < devices; ++at)
        out["spec"]["devices"].push_back(device(at));
    return out;
}

Json slice_of(int at) {
    const std::string name = node_name(at);
    return slice("slice-" + name, name, {{"nodeName", name}}, rarely(4) ? draw(5, 12) : draw(1, 4));
}

Json device_class(bool second) {
    Json out = named(kGroup, "DeviceClass", second ? "large" : "gpu");
    std::string text = fmt::format("device.driver == '{}'", kDriver);
    if (second) text += fmt::format(" && device.capacity['{}'].memory.compareTo(quantity('80Gi')) >= 0", kDriver);
    out["spec"] = {{"selectors", Json::array({{{"cel", {{"expression", text}}}}})}};
    if (rarely(2)) out["spec"]["extendedResourceName"] = "example.com/gpu";
    return out;
}

Json wish() {
    Json out{{"deviceClassName", rarely(4) ? "large" : "gpu"}, {"count", draw(1, 3)}};
    if (rarely(3))
        out["selectors"] = Json::array(
            {{{"cel",
               {{"expression",
                 rarely(2) ? fmt::format("device.attributes['{}'].index >= {}", kDriver, draw(0, 2))
                           : fmt::format("device.attributes['{}'].?model.orValue('') == 'a'", kDriver)}}}}});
    if (rarely(10))
        out["selectors"] =
            Json::array({{{"cel", {{"expression", fmt::format("device.attributes['{}'].model == 'a'", kDriver)}}}}});
    if (rarely(6)) {
        out.erase("count");
        out["allocationMode"] = "All";
    }
    if (rarely(3)) out["tolerations"] = Json::array({{{"operator", "Exists"}}});
    return out;
}

Json claim_spec() {
    Json request{{"name", "r"}};
    if (rarely(4)) {
        Json first = wish();
        Json second = wish();
        first["name"] = "first";
        second["name"] = "second";
        request["firstAvailable"] = Json::array({first, second});
    } else {
        request["exactly"] = wish();
    }
    Json out{{"devices", {{"requests", Json::array({request})}}}};
    if (rarely(4))
        out["devices"]["constraints"] = Json::array({{{rarely(2) ? "matchAttribute" : "distinctAttribute",
                                                       fmt::format("{}/{}", kDriver, rarely(2) ? "index" : "board")}}});
    return out;
}

Json claim(const std::string& name) {
    Json out = named(kGroup, "ResourceClaim", name, true);
    out["metadata"]["uid"] = name;
    out["spec"] = claim_spec();
    return out;
}

void allocate(Json& claim, const std::string& pool, const std::string& node, const std::vector<std::string>& devices) {
    Json results = Json::array();
    for (const std::string& one : devices)
        results.push_back({{"request", "r"}, {"driver", kDriver}, {"pool", pool}, {"device", one}});
    claim["status"]["allocation"] = {{"devices", {{"results", results}}}};
    if (!node.empty())
        claim["status"]["allocation"]["nodeSelector"] = {
            {"nodeSelectorTerms",
             Json::array(
                 {{{"matchFields",
                    Json::array(
                        {{{"key", "metadata.name"}, {"operator", "In"}, {"values", Json::array({node})}}})}}})}};
}

void reserve(Json& claim, const std::string& pod) {
    claim["status"]["reservedFor"].push_back({{"resource", "pods"}, {"name", pod}, {"uid", pod}});
}

Json pod(const std::string& name, const std::string& node) {
    Json out = named("v1", "Pod", name, true);
    out["metadata"]["uid"] = name;
    out["spec"] = {{"schedulerName", "reprieve"},
                   {"priority", draw(0, 4) * 10},
                   {"containers", Json::array({{{"name", "c"}, {"resources", {{"requests", {{"cpu", "1"}}}}}}})}};
    out["status"] = {{"phase", node.empty() ? "Pending" : "Running"}};
    if (!node.empty()) {
        out["spec"]["nodeName"] = node;
        out["status"]["startTime"] = fmt::format("2026-01-01T11:{:02}:00Z", draw(0, 59));
    }
    return out;
}

void use_claim(Json& pod, const std::string& claim) {
    pod["spec"]["resourceClaims"].push_back(
        {{"name", fmt::format("e{}", pod["spec"]["resourceClaims"].size())}, {"resourceClaimName", claim}});
}

void want_something(Json& pod) {
    switch (draw(0, 3)) {
        case 0:
            use_claim(pod, fmt::format("c{}", draw(0, 7)));
            if (rarely(4)) use_claim(pod, pod["spec"]["resourceClaims"][0]["resourceClaimName"]);
            break;
        case 1:
            pod["spec"]["containers"][0]["resources"]["requests"]["example.com/gpu"] = std::to_string(draw(1, 3));
            break;
        default:
            pod["spec"]["resourceClaims"] =
                Json::array({{{"name", "e"}, {"resourceClaimTemplateName", rarely(2) ? "t0" : "t1"}}});
            if (rarely(5))
                pod["spec"]["resourceClaims"].push_back({{"name", "f"}, {"resourceClaimTemplateName", "t1"}});
    }
}

Json claim_template(int at) {
    Json out = named(kGroup, "ResourceClaimTemplate", fmt::format("t{}", at), true);
    out["spec"]["spec"] = claim_spec();
    return out;
}

Json taint_rule() {
    Json out = named(kGroup, "DeviceTaintRule", "rule");
    out["spec"] = {{"deviceSelector", {{"driver", kDriver}, {"device", fmt::format("d{}", draw(0, 3))}}},
                   {"taint", {{"key", "sick"}, {"effect", "NoSchedule"}}}};
    return out;
}

// A card that can be used whole or in halves.
Json partitions(const std::string& node) {
    Json out = slice("parts-" + node, "parts-" + node, {{"nodeName", node}}, 3);
    out["spec"]["pool"]["resourceSliceCount"] = 2;
    for (int at = 0; at < 3; ++at)
        out["spec"]["devices"][static_cast<std::size_t>(at)]["consumesCounters"] =
            Json::array({{{"counterSet", "card"}, {"counters", {{"memory", {{"value", at == 0 ? "80Gi" : "40Gi"}}}}}}});
    return out;
}

Json counters(const std::string& node) {
    Json out = slice("count-" + node, "parts-" + node, {{"nodeName", node}}, 0);
    out["spec"].erase("devices");
    out["spec"]["pool"]["resourceSliceCount"] = 2;
    out["spec"]["sharedCounters"] = Json::array({{{"name", "card"}, {"counters", {{"memory", {{"value", "80Gi"}}}}}}});
    return out;
}

Json shared_slice() {
    return slice(
        "shared",
        "shared",
        rarely(2) ? Json{{"allNodes", true}}
                  : Json{{"nodeSelector",
                          {{"nodeSelectorTerms",
                            Json::array(
                                {{{"matchExpressions",
                                   Json::array(
                                       {{{"key", "zone"}, {"operator", "In"}, {"values", Json::array({"a"})}}})}}})}}}},
        2);
}

}  // namespace

std::vector<Json> random_claims_world() {
    std::vector<Json> out{device_class(false), device_class(true), claim_template(0), claim_template(1)};
    std::map<int, std::vector<std::string>> free;  // devices by node
    for (int at = 0; at < kClaimNodes; ++at) {
        out.push_back(node(at));
        if (rarely(6)) continue;
        out.push_back(slice_of(at));
        for (const Json& one : out.back()["spec"]["devices"])
            free[at].push_back(one["name"]);
    }
    if (rarely(3)) out.push_back(shared_slice());
    if (rarely(3)) {
        out.push_back(partitions("n0"));
        out.push_back(counters("n0"));
    }
    if (rarely(4)) out.push_back(taint_rule());
    const int holders = draw(0, 8);
    for (int i = 0; i < holders; ++i) {
        const int at = draw(0, kClaimNodes - 1);
        const std::string name = fmt::format("r{}", i);
        Json holder = pod(name, node_name(at));
        std::vector<std::string> given;
        for (int want = draw(1, 2); want > 0 && !free[at].empty(); --want) {
            given.push_back(free[at].back());
            free[at].pop_back();
        }
        Json held = claim(fmt::format("c{}", i));
        if (!given.empty()) {
            allocate(held, node_name(at), node_name(at), given);
            use_claim(holder, fmt::format("c{}", i));
            reserve(held, name);
            if (rarely(4)) {
                Json other = pod(name + "-too", node_name(at));
                use_claim(other, fmt::format("c{}", i));
                reserve(held, name + "-too");
                out.push_back(other);
            }
        }
        if (rarely(6)) holder["metadata"]["deletionTimestamp"] = "2026-01-01T12:00:20Z";
        if (rarely(8)) holder["status"]["phase"] = rarely(2) ? "Succeeded" : "Failed";
        if (!given.empty() && rarely(8)) reserve(held, name);
        out.push_back(holder);
        out.push_back(held);
    }
    const int waiting = draw(1, 5);
    for (int i = 0; i < waiting; ++i) {
        Json wanting = pod(fmt::format("w{}", i), "");
        want_something(wanting);
        out.push_back(wanting);
    }
    return out;
}

Json random_claims_object() {
    const std::string number = std::to_string(draw(0, 7));
    switch (draw(0, 12)) {
        case 0: {
            Json out = slice_of(draw(0, kClaimNodes - 1));
            if (rarely(4)) out["spec"]["pool"]["generation"] = 2;
            if (rarely(6)) out["spec"]["pool"]["resourceSliceCount"] = 2;
            if (rarely(6)) out["spec"]["pool"]["name"] = "n0";
            return out;
        }
        case 1:
            return shared_slice();
        case 2:
            return rarely(2) ? partitions("n0") : counters("n0");
        case 3:
            return node(draw(0, kClaimNodes - 1));
        case 4:
            return rarely(3) ? device_class(rarely(2)) : taint_rule();
        case 5:
            return claim_template(draw(0, 1));
        case 6:
        case 7: {
            Json out = pod("r" + number, node_name(draw(0, kClaimNodes)));
            if (!rarely(4)) use_claim(out, "c" + number);
            if (rarely(4)) out["metadata"]["deletionTimestamp"] = "2026-01-01T12:00:20Z";
            if (rarely(6)) out["status"]["phase"] = "Succeeded";
            if (rarely(6)) out["metadata"]["uid"] = "another";
            return out;
        }
        case 8: {
            Json out = pod("w" + number, "");
            want_something(out);
            return out;
        }
        default: {
            Json out = claim("c" + number);
            if (rarely(5)) return out;
            const std::string at = node_name(draw(0, kClaimNodes - 1));
            std::vector<std::string> given;
            for (int i = draw(1, 2); i > 0; --i)
                given.push_back(fmt::format("d{}", draw(0, 5)));
            allocate(out, rarely(5) ? "shared" : at, rarely(3) ? "" : at, given);
            if (!rarely(6)) reserve(out, "r" + number);
            if (rarely(4)) reserve(out, fmt::format("r{}", draw(0, 7)));
            if (rarely(8))
                out["status"]["reservedFor"].push_back(
                    {{"apiGroup", "scheduling.k8s.io"}, {"resource", "podgroups"}, {"name", "g"}, {"uid", "g"}});
            if (rarely(8)) out["metadata"]["deletionTimestamp"] = "2026-01-01T12:00:20Z";
            return out;
        }
    }
}

}  // namespace reprieve::property
