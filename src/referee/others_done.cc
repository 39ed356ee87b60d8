#include "referee/others_done.h"

#include <nlohmann/json.hpp>

#include "model/placed_devices.h"
#include "state/pod_named.h"

namespace reprieve {

OthersDone::~OthersDone() {
    for (const auto& [key, was] : before_)
        apply(key, was);
}

void OthersDone::bind(const Placement& placement, bool stays) {
    using Json = nlohmann::ordered_json;
    const auto known = world_.world().find("Pod " + placement.pod);
    if (known == world_.world().end()) return;
    Json all = Json::parse(known->second.overlay, nullptr, false);
    if (!all.is_object()) all = Json::object();
    all.update({{"node", placement.node}, {"nominated", ""}, {"plan", nullptr}});
    // What a plan gives with one hand it does not take with the other.
    if (stays) all.update({{"preemptible", false}, {"marker", "the same plan places it"}});
    Json devices = Json::array();
    for (const DeviceHold& hold : placed_devices(placement.devices))
        devices.push_back({hold.index, hold.memory, hold.milli});
    if (!devices.empty()) all["devices"] = std::move(devices);
    put(known->first, {.json = known->second.json, .overlay = all.dump()});
}

void OthersDone::remove(const std::string& pod) { put("Pod " + pod, {.json = {}, .overlay = {}}); }

void OthersDone::put(const std::string& key, const RecordedObject& object) {
    const auto known = world_.world().find(key);
    if (known == world_.world().end()) return;
    before_.try_emplace(key, known->second);
    apply(key, object);
}

void OthersDone::apply(const std::string& key, const RecordedObject& object) {
    static_cast<void>(world_.apply({.at = {}, .key = key, .believed = false, .json = object.json}));
    if (!object.json.empty())
        static_cast<void>(world_.apply({.at = {}, .key = key, .believed = true, .json = object.overlay}));
}

}  // namespace reprieve
