#include "manifest/claim_write.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/digest.h"

namespace reprieve {
namespace {

using ClaimJson = nlohmann::json;

ClaimJson claim_object(std::string_view text) {
    ClaimJson parsed = ClaimJson::parse(text, nullptr, false);
    return parsed.is_object() ? parsed : ClaimJson::object();
}

const ClaimJson& part(const ClaimJson& json, const char* key) {
    static const ClaimJson kNone;
    return json.is_object() && json.contains(key) ? json.at(key) : kNone;
}

std::string word(const ClaimJson& json, const char* key) {
    const ClaimJson& value = part(json, key);
    return value.is_string() ? value.get<std::string>() : std::string();
}

std::string claim_text(const ClaimJson& json) { return json.dump(-1, ' ', false, ClaimJson::error_handler_t::replace); }

// The request or alternative that a result names. v1beta1 has the fields of `exactly` on the request itself.
const ClaimJson& wish_of(const ClaimJson& claim, const std::string& label) {
    static const ClaimJson kNone;
    const std::size_t slash = label.find('/');
    for (const ClaimJson& request : part(part(part(claim, "spec"), "devices"), "requests")) {
        if (word(request, "name") != label.substr(0, slash)) continue;
        if (slash == std::string::npos) return request.contains("exactly") ? request.at("exactly") : request;
        for (const ClaimJson& alternative : part(request, "firstAvailable")) {
            if (word(alternative, "name") == label.substr(slash + 1)) return alternative;
        }
    }
    return kNone;
}

// The same share has the same id, however often it is written.
std::string share_id(const std::string& claim_uid, const ClaimedDevice& device, std::size_t index) {
    const Digest digest = digest_bytes(
        fmt::format("{}/{}/{}/{}/{}/{}", claim_uid, device.driver, device.pool, device.device, device.request, index));
    const std::string hex = fmt::format("{:016x}{:016x}", digest.high, digest.low);
    return fmt::format(
        "{}-{}-4{}-8{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(13, 3), hex.substr(17, 3), hex.substr(20));
}

ClaimJson result_json(const ClaimJson& claim, const ClaimedDevice& device, std::size_t index) {
    ClaimJson out = {
        {"request", device.request}, {"driver", device.driver}, {"pool", device.pool}, {"device", device.device}};
    if (device.admin) out["adminAccess"] = true;
    if (const ClaimJson& tolerations = part(wish_of(claim, device.request), "tolerations"); tolerations.is_array())
        out["tolerations"] = tolerations;
    if (!device.binding_conditions.empty()) out["bindingConditions"] = device.binding_conditions;
    if (!device.failure_conditions.empty()) out["bindingFailureConditions"] = device.failure_conditions;
    if (!device.share.empty()) {
        out["shareID"] = share_id(word(part(claim, "metadata"), "uid"), device, index);
        out["consumedCapacity"] = device.share;
    }
    return out;
}

ClaimJson selector_json(const std::vector<std::vector<NodeRule>>& terms) {
    ClaimJson out = ClaimJson::array();
    for (const std::vector<NodeRule>& rules : terms) {
        ClaimJson term = ClaimJson::object();
        for (const NodeRule& rule : rules) {
            ClaimJson made = {{"key", rule.key.empty() ? "metadata.name" : rule.key}, {"operator", rule.op}};
            if (!rule.values.empty()) made["values"] = rule.values;
            term[rule.key.empty() ? "matchFields" : "matchExpressions"].push_back(std::move(made));
        }
        out.push_back(std::move(term));
    }
    return {{"nodeSelectorTerms", out}};
}

// The names by which a configuration may speak of what was allocated: "request", "request/alternative".
struct AllocatedRequest {
    std::string name;
    std::string label;
    std::string cls;
};

std::vector<AllocatedRequest> allocated_requests(const ClaimJson& claim, const PlacedClaim& placed) {
    std::vector<AllocatedRequest> out;
    for (const ClaimJson& request : part(part(part(claim, "spec"), "devices"), "requests")) {
        const std::string name = word(request, "name");
        for (const ClaimedDevice& device : placed.results) {
            if (device.request != name && !device.request.starts_with(name + "/")) continue;
            out.push_back({name, device.request, word(wish_of(claim, device.request), "deviceClassName")});
            break;
        }
    }
    return out;
}

// Of the classes once each, with the requests that use it; then of the claim, where it speaks of what was allocated.
// A configuration for every request names none.
ClaimJson config_json(const ClaimJson& claim,
                      const PlacedClaim& placed,
                      const std::map<std::string, std::string>& classes) {
    const std::vector<AllocatedRequest> requests = allocated_requests(claim, placed);
    ClaimJson out = ClaimJson::array();
    std::set<std::string> done;
    for (const AllocatedRequest& first : requests) {
        const auto cls = classes.find(first.cls);
        if (cls == classes.end() || !done.insert(first.cls).second) continue;
        const ClaimJson fact = claim_object(cls->second);
        ClaimJson users = ClaimJson::array();
        for (const AllocatedRequest& request : requests) {
            if (request.cls == first.cls) users.push_back(request.label);
        }
        for (ClaimJson config : part(part(fact, "spec"), "config")) {
            config["source"] = "FromClass";
            config["requests"] = users;
            out.push_back(std::move(config));
        }
    }
    for (ClaimJson config : part(part(part(claim, "spec"), "devices"), "config")) {
        const ClaimJson& named = part(config, "requests");
        const auto is_named = [&](const AllocatedRequest& request) {
            return std::ranges::any_of(
                named, [&](const ClaimJson& one) { return one == request.name || one == request.label; });
        };
        const bool all = !named.is_array() || named.empty();
        if (!all && std::ranges::none_of(requests, is_named)) continue;
        config["source"] = "FromClaim";
        out.push_back(std::move(config));
    }
    for (ClaimJson& config : out) {
        const ClaimJson& named = part(config, "requests");
        const auto is_named = [&](const AllocatedRequest& request) {
            return std::ranges::any_of(
                named, [&](const ClaimJson& one) { return one == request.name || one == request.label; });
        };
        if (named.is_array() && std::ranges::all_of(requests, is_named)) config.erase("requests");
    }
    return out;
}

ClaimJson allocation_json(const ClaimJson& claim,
                          const PlacedClaim& placed,
                          const std::map<std::string, std::string>& classes,
                          Time now) {
    ClaimJson results = ClaimJson::array();
    for (std::size_t i = 0; i < placed.results.size(); ++i)
        results.push_back(result_json(claim, placed.results[i], i));
    ClaimJson out = {{"devices", {{"results", std::move(results)}}}};
    if (ClaimJson config = config_json(claim, placed, classes); !config.empty()) out["devices"]["config"] = config;
    if (placed.nodes) out["nodeSelector"] = selector_json(*placed.nodes);
    out["allocationTimestamp"] = format_time({now.us - now.us % 1'000'000});
    return out;
}

}  // namespace

bool ClaimStanding::is_reserved_for(const std::string& pod_uid) const {
    return std::ranges::find(consumers, pod_uid) != consumers.end();
}

std::optional<ClaimStanding> read_claim_standing(std::string_view text) {
    const ClaimJson claim = claim_object(text);
    const ClaimJson& metadata = part(claim, "metadata");
    if (!metadata.is_object()) return std::nullopt;
    ClaimStanding out{.uid = word(metadata, "uid"),
                      .version = word(metadata, "resourceVersion"),
                      .deleting = metadata.contains("deletionTimestamp")};
    for (const ClaimJson& finalizer : part(metadata, "finalizers"))
        out.has_finalizer = out.has_finalizer || finalizer == kClaimFinalizer;
    for (const ClaimJson& owner : part(metadata, "ownerReferences")) {
        if (word(owner, "kind") == "Pod") out.owner = word(owner, "uid");
    }
    const ClaimJson& status = part(claim, "status");
    const ClaimJson& allocation = part(status, "allocation");
    out.allocated = allocation.is_object();
    for (const ClaimJson& result : part(part(allocation, "devices"), "results"))
        out.devices.push_back(
            fmt::format("{}/{}/{}", word(result, "driver"), word(result, "pool"), word(result, "device")));
    std::ranges::sort(out.devices);
    for (const ClaimJson& consumer : part(status, "reservedFor"))
        out.consumers.push_back(word(consumer, "uid"));
    return out;
}

std::vector<std::string> devices_of(const PlacedClaim& placed) {
    std::vector<std::string> out;
    for (const ClaimedDevice& device : placed.results)
        out.push_back(fmt::format("{}/{}/{}", device.driver, device.pool, device.device));
    std::ranges::sort(out);
    return out;
}

std::string with_claim_finalizer(std::string_view text) {
    ClaimJson claim = claim_object(text);
    claim["metadata"]["finalizers"].push_back(kClaimFinalizer);
    return claim_text(claim);
}

std::string with_claim_consumer(std::string_view text,
                                const PlacedClaim& placed,
                                const std::map<std::string, std::string>& classes,
                                const std::string& pod_name,
                                const std::string& pod_uid,
                                Time now) {
    ClaimJson claim = claim_object(text);
    ClaimJson& status = claim["status"];
    if (!part(status, "allocation").is_object()) status["allocation"] = allocation_json(claim, placed, classes, now);
    status["reservedFor"].push_back({{"resource", "pods"}, {"name", pod_name}, {"uid", pod_uid}});
    return claim_text(claim);
}

std::string without_claim_consumer(std::string_view text, const std::string& pod_uid, bool deallocate) {
    ClaimJson claim = claim_object(text);
    ClaimJson left = ClaimJson::array();
    for (const ClaimJson& consumer : part(part(claim, "status"), "reservedFor")) {
        if (word(consumer, "uid") != pod_uid) left.push_back(consumer);
    }
    ClaimJson& status = claim["status"];
    if (left.empty() && deallocate) {
        // What the drivers said was about devices that the claim no longer has.
        for (const char* gone : {"allocation", "reservedFor", "devices"})
            status.erase(gone);
    } else {
        status["reservedFor"] = std::move(left);
    }
    return claim_text(claim);
}

BindingState binding_state(std::string_view text, const PlacedClaim& placed) {
    const ClaimJson claim = claim_object(text);
    const auto is_true = [&](const ClaimedDevice& device, const std::string& type) {
        for (const ClaimJson& one : part(part(claim, "status"), "devices")) {
            if (word(one, "driver") != device.driver || word(one, "pool") != device.pool ||
                word(one, "device") != device.device)
                continue;
            for (const ClaimJson& condition : part(one, "conditions")) {
                if (word(condition, "type") == type && word(condition, "status") == "True") return true;
            }
        }
        return false;
    };
    return look_at_binding(placed.results, is_true).state;
}

std::string extended_claim_body(const PlacedClaim& placed,
                                const std::string& api_version,
                                const std::string& pod_name,
                                const std::string& pod_uid) {
    const std::size_t slash = placed.claim.find('/');
    ClaimJson requests = ClaimJson::array();
    for (const ClaimedDevice& device : placed.results) {
        const auto known =
            std::ranges::find_if(requests, [&](const ClaimJson& one) { return one.at("name") == device.request; });
        if (known != requests.end()) {
            ClaimJson& count = (*known)["exactly"]["count"];
            count = count.get<std::int64_t>() + 1;
            continue;
        }
        requests.push_back(
            {{"name", device.request},
             {"exactly", {{"deviceClassName", device.cls}, {"allocationMode", "ExactCount"}, {"count", 1}}}});
    }
    return claim_text(
        {{"apiVersion", api_version},
         {"kind", "ResourceClaim"},
         {"metadata",
          {{"namespace", placed.claim.substr(0, slash)},
           {"name", placed.claim.substr(slash + 1)},
           {"annotations", {{"resource.kubernetes.io/extended-resource-claim", "true"}}},
           {"finalizers", {kClaimFinalizer}},
           {"ownerReferences",
            {{{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", pod_name}, {"uid", pod_uid}, {"controller", true}}}}}},
         {"spec", {{"devices", {{"requests", std::move(requests)}}}}}});
}

// A request is called container-<i>-request-<j>: i counts init containers first, j the container's resource names in
// order. Init containers that end use what later containers ask for, and beyond that the one request made for them.
std::string extended_claim_status(const PlacedClaim& placed, std::string_view pod) {
    const ClaimJson spec = part(claim_object(pod), "spec");
    struct Container {
        std::string name;
        bool ends = false;
        std::map<std::string, std::int64_t> asks;  // by resource
        std::map<std::string, std::string> requests;
    };
    std::vector<Container> containers;
    for (const char* list : {"initContainers", "containers"}) {
        for (const ClaimJson& fact : part(spec, list)) {
            Container& made = containers.emplace_back();
            made.name = word(fact, "name");
            made.ends = list == std::string_view("initContainers") && word(fact, "restartPolicy") != "Always";
            for (const char* amounts : {"limits", "requests"}) {
                for (const auto& [resource, amount] : part(part(fact, "resources"), amounts).items()) {
                    const std::string text = amount.is_string() ? amount.get<std::string>() : amount.dump();
                    made.asks[resource] = std::strtoll(text.c_str(), nullptr, 10);
                }
            }
            std::size_t position = 0;
            for (const auto& [resource, count] : made.asks)
                made.requests[resource] = fmt::format("container-{}-request-{}", containers.size() - 1, position++);
        }
    }
    const auto given = [&](const std::string& request) {
        return std::ranges::count(placed.results, request, &ClaimedDevice::request);
    };
    ClaimJson mappings = ClaimJson::array();
    const auto map = [&](const Container& container, const std::string& resource, const std::string& request) {
        mappings.push_back({{"containerName", container.name}, {"resourceName", resource}, {"requestName", request}});
    };
    std::set<std::string> resources;
    for (const Container& container : containers) {
        for (const auto& [resource, request] : container.requests) {
            if (given(request) > 0) resources.insert(resource);
        }
    }
    for (const std::string& resource : resources) {
        std::string for_init;  // the request of those that end
        for (const Container& container : containers) {
            const auto request = container.requests.find(resource);
            if (container.ends && request != container.requests.end() && given(request->second) > 0)
                for_init = request->second;
        }
        for (std::size_t i = 0; i < containers.size(); ++i) {
            const Container& container = containers[i];
            const auto ask = container.asks.find(resource);
            if (ask == container.asks.end() || ask->second == 0) continue;
            if (!container.ends) {
                map(container, resource, container.requests.at(resource));
                continue;
            }
            std::int64_t reused = 0;
            for (std::size_t later = i; later < containers.size() && reused < ask->second; ++later) {
                const auto request = containers[later].requests.find(resource);
                if (containers[later].ends || request == containers[later].requests.end()) continue;
                if (given(request->second) == 0) continue;
                reused += given(request->second);
                map(container, resource, request->second);
            }
            if (reused < ask->second && !for_init.empty()) map(container, resource, for_init);
        }
    }
    const std::size_t slash = placed.claim.find('/');
    return claim_text({{"status",
                        {{"extendedResourceClaimStatus",
                          {{"resourceClaimName", placed.claim.substr(slash + 1)}, {"requestMappings", mappings}}}}}});
}

}  // namespace reprieve
