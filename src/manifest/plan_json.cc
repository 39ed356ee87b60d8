#include "manifest/plan_json.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "manifest/json_fields.h"
#include "manifest/plan_yaml.h"

namespace reprieve {
namespace {

using Json = OrderedJson;

std::string cleaned(const std::string& text) { return valid_utf8(text); }
std::int64_t cleaned(std::int64_t number) { return number; }

// Keys are sorted as they are written, so that a plan read back is written the same way.
template <class Value>
std::map<std::string, Value> cleaned(const std::map<std::string, Value>& entries) {
    std::map<std::string, Value> clean;
    for (const auto& [key, value] : entries)
        clean.emplace(valid_utf8(key), cleaned(value));
    return clean;
}

template <class Value>
Json object_of(const std::map<std::string, Value>& entries) {
    Json object = Json::object();
    for (const auto& [key, value] : cleaned(entries))
        object[key] = value;
    return object;
}

Json json_of(const PlacedClaim& claim) {
    Json object = Json::object();
    put(object, "claim", claim.claim);
    Json results = Json::array();
    for (const ClaimedDevice& device : claim.results) {
        Json entry = Json::object();
        put(entry, "request", device.request);
        put(entry, "driver", device.driver);
        put(entry, "pool", device.pool);
        put(entry, "device", device.device);
        if (device.admin) entry["adminAccess"] = true;
        if (!device.share.empty()) entry["share"] = object_of(device.share);
        results.push_back(std::move(entry));
    }
    object["results"] = std::move(results);
    return object;
}

Json json_of(const Placement& placement) {
    Json object = Json::object();
    put(object, "pod", placement.pod);
    put(object, "node", placement.node);
    put(object, "devices", placement.devices);
    if (!placement.claims.empty()) {
        Json claims = Json::array();
        for (const PlacedClaim& claim : placement.claims)
            claims.push_back(json_of(claim));
        object["claims"] = std::move(claims);
    }
    object["when"] = placement.after_evictions ? "afterEvictions" : "now";
    put(object, "for", placement.owner);
    put(object, "domain", placement.domain);
    put(object, "action", placement.action);
    return object;
}

Json json_of(const Eviction& eviction) {
    Json object = Json::object();
    put(object, "pod", eviction.pod);
    put(object, "node", eviction.node);
    object["unit"] = to_text(eviction.unit);
    put(object, "group", eviction.group);
    put(object, "for", eviction.owner);
    put(object, "action", eviction.action);
    object["mode"] = to_text(eviction.mode);
    object["pdbViolation"] = eviction.pdb_violation;
    put(object, "frees", eviction.frees);
    put(object, "stage", eviction.stage);
    put(object, "reason", eviction.reason);
    return object;
}

Json json_of(const ScaleChange& change) {
    Json object = Json::object();
    put(object, "deployment", change.deployment);
    put(object, "plane", change.plane);
    object["from"] = change.from;
    object["to"] = change.to;
    put(object, "hints", change.hints);
    return object;
}

Json json_of(const AnnotationChange& change) {
    Json object = Json::object();
    put(object, "pod", change.pod);
    if (!change.set.empty()) object["set"] = object_of(change.set);
    put(object, "remove", change.remove);
    return object;
}

Json json_of(const Match& match) {
    Json object = Json::object();
    put(object, "for", match.owner);
    put(object, "node", match.node);
    Json victims = Json::array();
    for (const MatchVictim& victim : match.victims) {
        Json entry = Json::object();
        put(entry, "pod", victim.pod);
        put(entry, "as", victim.as);
        victims.push_back(std::move(entry));
    }
    object["victims"] = std::move(victims);
    object["usesFree"] = match.uses_free;
    return object;
}

Json json_of(const QueueReport& queue) {
    static constexpr std::array<std::string_view, 6> kFirst{
        "deserved", "allocated", "used", "usedLive", "preempting", "runtime"};
    Json object = Json::object();
    put(object, "name", queue.name);
    for (const std::string_view share : kFirst) {
        const auto found = queue.shares.find(std::string(share));
        if (found != queue.shares.end()) object[found->first] = object_of(found->second);
    }
    for (const auto& [share, amounts] : cleaned(queue.shares)) {
        if (std::find(kFirst.begin(), kFirst.end(), share) == kFirst.end()) object[share] = object_of(amounts);
    }
    return object;
}

Json json_of(const Unplaced& item) {
    Json object = Json::object();
    put(object, "pod", item.pod);
    put(object, "for", item.owner);
    if (item.replicas != 0) object["replicas"] = item.replicas;
    object["verdict"] = item.never ? "never" : "notNow";
    put(object, "reason", item.reason);
    if (!item.nodes.empty()) object["nodes"] = object_of(item.nodes);
    return object;
}

Json json_of(const Certificate& certificate) {
    Json object = Json::object();
    put(object, "for", certificate.owner);
    put(object, "action", certificate.action);
    object["status"] = to_text(certificate.status);
    put(object, "cost", certificate.cost);
    put(object, "bound", certificate.bound);
    put(object, "runnerUp", certificate.runner_up);
    put(object, "binding", certificate.binding);
    return object;
}

template <class T>
Json array_of(const std::vector<T>& items) {
    Json list = Json::array();
    for (const T& item : items)
        list.push_back(json_of(item));
    return list;
}

Json json_of(const Plan& plan) {
    Json object = Json::object();
    object["apiVersion"] = "reprieve.dev/v1";
    object["kind"] = "Plan";
    put(object, "id", plan.id);
    if (plan.now.is_set()) object["now"] = format_time(plan.now);
    object["placements"] = array_of(plan.placements);
    object["evictions"] = array_of(plan.evictions);
    object["nominationsCleared"] = list_of(plan.nominations_cleared);
    object["scale"] = array_of(plan.scale);
    object["forceDeletes"] = list_of(plan.force_deletes);
    object["annotations"] = array_of(plan.annotations);
    object["matches"] = array_of(plan.matches);
    object["queues"] = array_of(plan.queues);
    object["unplaced"] = array_of(plan.unplaced);
    object["certificates"] = array_of(plan.certificates);
    object["warnings"] = list_of(plan.warnings);
    return object;
}

}  // namespace

std::string plan_to_json(const Plan& plan) { return json_of(plan).dump(2) + "\n"; }

std::string queues_to_json(const Plan& plan) { return array_of(plan.queues).dump(2) + "\n"; }

std::string plan_to_json_line(const Plan& plan) { return json_of(plan).dump() + "\n"; }

std::string plan_to_yaml(const Plan& plan) { return yaml_of(json_of(plan)); }

}  // namespace reprieve
