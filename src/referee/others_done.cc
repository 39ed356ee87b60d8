#include "referee/others_done.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "manifest/claim_write.h"
#include "model/placed_devices.h"
#include "state/pod_named.h"

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kClaimKeys = "ResourceClaim.resource.k8s.io ";

}  // namespace

std::set<std::string> pods_needed_by(const Cluster& cluster, const std::vector<const Placement*>& placements) {
    const Snapshot& s = cluster.snapshot();
    std::set<std::string> out;
    for (const Placement* placement : placements) {
        const PodId pod = pod_named(cluster, placement->pod);
        const StringId name = s.words->find_string(placement->node);
        const NodeId node = name ? cluster.find_node(name) : NodeId();
        if (!pod || !node) continue;
        const PodClass& cls = s.class_of(pod);
        const auto counts = [&](PodId other) {
            const std::vector<TermId>& matched = s.class_of(other).matched;
            const auto speaks = [&](TermId term) { return std::ranges::binary_search(matched, term); };
            const NodeId there = s.pods[other].node;
            return std::ranges::any_of(cls.affinity,
                                       [&](TermId term) {
                                           const TopologyKeyId key = s.terms[term].key;
                                           return speaks(term) && key && there &&
                                                  s.topology.domain(key, there.index()) ==
                                                      s.topology.domain(key, node.index());
                                       }) ||
                   std::ranges::any_of(cls.spread,
                                       [&](const ClassSpread& rule) { return rule.hard && speaks(rule.term); });
        };
        if (cls.affinity.empty() && std::ranges::none_of(cls.spread, &ClassSpread::hard)) continue;
        for (PodId other : IdRange<PodId>(s.pods.size())) {
            if (other != pod && s.pods[other].state == PodState::kRunning && counts(other))
                out.insert(s.pod_name(other));
        }
    }
    return out;
}

OthersDone::~OthersDone() {
    for (const auto& [key, was] : before_)
        apply(key, was);
}

void OthersDone::bind(const Placement& placement, bool stays) {
    const auto known = world_.world().find("Pod " + placement.pod);
    if (known == world_.world().end()) return;
    const Json pod = Json::parse(known->second.json, nullptr, false);
    Json fields{{"node", placement.node}, {"nominated", ""}, {"plan", nullptr}};
    // What a plan gives with one hand it does not take with the other.
    if (stays) fields.update({{"preemptible", false}, {"marker", "the same plan places it"}});
    Json devices = Json::array();
    for (const DeviceHold& hold : placed_devices(placement.devices))
        devices.push_back({hold.index, hold.memory, hold.milli});
    if (!devices.empty()) fields["devices"] = std::move(devices);
    lay(placement.pod, fields.dump());
    if (pod.is_object() && pod.contains("metadata"))
        hold_claims(placement, pod["metadata"].value("uid", std::string()));
}

// The devices that the plan gives its claims are theirs.
void OthersDone::hold_claims(const Placement& placement, const std::string& uid) {
    const std::string name = placement.pod.substr(placement.pod.find('/') + 1);
    for (const PlacedClaim& placed : placement.claims) {
        const std::string key = kClaimKeys + placed.claim;
        const auto known = world_.world().find(key);
        // One that is made for extended resources.
        const std::string claim = known != world_.world().end()
                                      ? known->second.json
                                      : extended_claim_body(placed, "resource.k8s.io/v1", name, uid);
        put(key, {.json = with_claim_consumer(claim, placed, {}, name, uid, {}), .overlay = {}});
    }
}

void OthersDone::remove(const std::string& pod, const std::vector<std::string>& frees) {
    const std::string key = "Pod " + pod;
    if (!world_.world().contains(key)) return;
    put(key, {.json = {}, .overlay = {}});
    for (const std::string& claim : frees) {
        const auto known = world_.world().find(kClaimKeys + claim);
        if (known == world_.world().end()) continue;
        Json text = Json::parse(known->second.json, nullptr, false);
        if (!text.is_object() || !text.contains("status")) continue;
        for (const char* gone : {"allocation", "reservedFor", "devices"})
            text["status"].erase(gone);
        put(known->first, {.json = text.dump(), .overlay = {}});
    }
}

void OthersDone::keep(const std::string& pod) {
    lay(pod, R"({"preemptible":false,"marker":"another placement of the plan needs it"})");
}

// Lays fields over those that are believed already.
void OthersDone::lay(const std::string& pod, const std::string& fields) {
    const auto known = world_.world().find("Pod " + pod);
    if (known == world_.world().end()) return;
    Json all = Json::parse(known->second.overlay, nullptr, false);
    if (!all.is_object()) all = Json::object();
    all.update(Json::parse(fields));
    put(known->first, {.json = known->second.json, .overlay = all.dump()});
}

void OthersDone::put(const std::string& key, const RecordedObject& object) {
    const auto known = world_.world().find(key);
    before_.try_emplace(key, known == world_.world().end() ? RecordedObject() : known->second);
    apply(std::string(key), object);
}

void OthersDone::apply(const std::string& key, const RecordedObject& object) {
    static_cast<void>(world_.apply({.at = {}, .key = key, .believed = false, .json = object.json}));
    if (!object.json.empty() && key.starts_with("Pod "))
        static_cast<void>(world_.apply({.at = {}, .key = key, .believed = true, .json = object.overlay}));
}

}  // namespace reprieve
