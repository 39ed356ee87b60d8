#include "world.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "scaling.h"

namespace reprieve::scenario {
namespace {

constexpr Duration kGrace{std::int64_t{30} * 1'000'000};

bool is_terminating(const Json& pod) {
    return pod.value("kind", "") == "Pod" && pod["metadata"].contains("deletionTimestamp");
}

// Kinds of which there is one per name in the whole cluster; all others are named within a namespace.
bool cluster_wide(const std::string& kind) {
    static const std::set<std::string, std::less<>> kKinds{"Node",
                                                           "Queue",
                                                           "HyperNode",
                                                           "PriorityClass",
                                                           "Namespace",
                                                           "PersistentVolume",
                                                           "StorageClass",
                                                           "CSINode",
                                                           "CSIDriver"};
    return kKinds.contains(kind);
}

std::string name_of(const Json& object) {
    const Json& metadata = object["metadata"];
    const std::string name = metadata.value("name", "");
    return cluster_wide(object.value("kind", "")) ? name
                                                  : fmt::format("{}/{}", metadata.value("namespace", "default"), name);
}

// What this file reads and changes is there, if only empty.
void complete(Json& object) {
    for (const char* part : {"metadata", "spec", "status"}) {
        if (object.value("kind", "") == "Pod" && !object.contains(part)) object[part] = Json::object();
    }
}

}  // namespace

World::World(std::vector<Json> documents, Time now) : documents_(std::move(documents)), now_(now) {
    for (Json& document : documents_)
        complete(document);
}

Json* World::find(const std::string& kind, const std::string& name) {
    const auto it = std::ranges::find_if(
        documents_, [&](const Json& d) { return d.value("kind", "") == kind && name_of(d) == name; });
    return it == documents_.end() ? nullptr : &*it;
}

void World::remove(const Json* object) { documents_.erase(documents_.begin() + (object - documents_.data())); }

void World::follow(const Json& plan, Faults& faults) {
    for (const Json& eviction : plan["evictions"]) {
        if (eviction.value("unit", "") != "replica") evict(eviction, faults);
    }
    follow_serving(plan, now_, documents_, faults);
    for (const Json& name : plan["nominationsCleared"]) {
        if (Json* pod = find_pod(name.get<std::string>())) (*pod)["status"].erase("nominatedNodeName");
    }
    for (const Json& placement : plan["placements"])
        place(placement, faults);
    for (const Json& queue : plan["queues"]) {
        if (queue.contains("preempting")) grant(queue, faults);
    }
}

void World::grant(const Json& queue, Faults& faults) {
    Json* object = find("Queue", queue.value("name", ""));
    if (object == nullptr) {
        faults.push_back(fmt::format("grants to {}, which is no Queue", queue.value("name", "")));
        return;
    }
    Json amounts = Json::object();
    for (const auto& [resource, amount] : queue["allocated"].items())
        amounts[resource] = fmt::format("{}{}", amount.get<std::int64_t>(), resource == "cpu" ? "m" : "");
    (*object)["metadata"]["annotations"]["reprieve.dev/allocated"] = amounts.dump();
}

void World::evict(const Json& eviction, Faults& faults) {
    const std::string name = eviction.value("pod", "");
    Json* pod = find_pod(name);
    if (pod == nullptr || is_terminating(*pod) || (*pod)["spec"].value("nodeName", "") != eviction.value("node", "")) {
        faults.push_back(fmt::format("evicts {}, which does not run on {}", name, eviction.value("node", "")));
        return;
    }
    if (eviction.value("mode", "") == "soft") {
        const Json note = {{"preemptJob", eviction.value("for", "")},
                           {"reason", eviction.value("reason", "")},
                           {"initiator", "reprieve"},
                           {"timestamp", format_time(now_)}};
        (*pod)["metadata"]["annotations"]["scheduling.koordinator.sh/soft-eviction"] = note.dump();
        return;
    }
    start_leaving(*pod);
    (*pod)["status"]["conditions"].push_back(
        {{"type", "DisruptionTarget"}, {"status", "True"}, {"reason", "PreemptionByScheduler"}});
}

void World::start_leaving(Json& pod) const {
    pod["metadata"]["deletionTimestamp"] = format_time(now_ + kGrace);
    pod["metadata"]["deletionGracePeriodSeconds"] = kGrace.seconds();
}

bool World::makes_pods() const {
    static constexpr std::string_view kMakers[] = {
        "Job", "Deployment", "ReplicaSet", "StatefulSet", "JobSet", "LeaderWorkerSet"};
    return std::ranges::any_of(
        documents_, [](const Json& d) { return std::ranges::find(kMakers, d.value("kind", "")) != std::end(kMakers); });
}

void World::place(const Json& placement, Faults& faults) {
    const std::string name = placement.value("pod", "");
    Json* pod = find_pod(name);
    // A pod that a workload stands for: there is no object to write on.
    if (pod == nullptr && makes_pods()) return;
    if (pod == nullptr || (*pod)["spec"].contains("nodeName")) {
        faults.push_back(fmt::format("places {}, which does not wait for a place", name));
        return;
    }
    if (placement.value("when", "") != "now") {
        (*pod)["status"]["nominatedNodeName"] = placement["node"];
        return;
    }
    (*pod)["spec"]["nodeName"] = placement["node"];
    (*pod)["status"].erase("nominatedNodeName");
    (*pod)["status"]["phase"] = "Running";
    (*pod)["status"]["startTime"] = format_time(now_);
    if (placement.contains("devices")) {
        const auto devices = placement["devices"].get<std::vector<std::string>>();
        (*pod)["metadata"]["annotations"]["reprieve.dev/devices"] = fmt::format("{}", fmt::join(devices, ","));
    }
}

bool World::let_victims_go() {
    const auto rest = std::ranges::stable_partition(documents_, [](const Json& d) { return !is_terminating(d); });
    const bool any = !rest.empty();
    gone_.insert(gone_.end(), rest.begin(), rest.end());
    documents_.erase(rest.begin(), rest.end());
    return any;
}

void World::happen(const Json& event, Faults& faults) {
    if (!event.is_object() || event.size() != 1) {
        faults.push_back(fmt::format("event {}: must be a map with one key", event.dump()));
        return;
    }
    const std::string what = event.begin().key();
    const Json& value = event.begin().value();
    if (what == "time") {
        const std::string text = value.is_string() ? value.get<std::string>() : "";
        const auto step = parse_duration(text.starts_with("+") ? text.substr(1) : text);
        if (step)
            now_ = now_ + *step;
        else
            faults.push_back(fmt::format("event time: {}", step.error().message));
    } else if (what == "create") {
        for (const Json& object : value.is_array() ? value : Json::array({value}))
            create(object, faults);
    } else if (what == "delete") {
        erase(value, faults);
    } else if (what == "finish") {
        for (const std::string& name : names_in(value, "finish", faults)) {
            if (Json* pod = find_pod(name))
                (*pod)["status"]["phase"] = "Succeeded";
            else
                faults.push_back(fmt::format("event finish: there is no pod {}", name));
        }
    } else if (what == "stop") {
        for (const std::string& name : names_in(value, "stop", faults)) {
            if (Json* pod = find_pod(name))
                start_leaving(*pod);
            else
                faults.push_back(fmt::format("event stop: there is no pod {}", name));
        }
    } else if (what == "set") {
        merge(value, faults);
    } else if (what == "victimsGone") {
        if (value == true) {
            if (!let_victims_go()) faults.emplace_back("event victimsGone: nothing is terminating");
            return;
        }
        for (const std::string& name : names_in(value, "victimsGone", faults))
            erase(name, faults);
    } else if (what == "victimsReturn") {
        return_victims();
    } else {
        faults.push_back(fmt::format("event {}: is not known", what));
    }
}

void World::create(const Json& object, Faults& faults) {
    if (find(object.value("kind", ""), name_of(object)) != nullptr)
        faults.push_back(fmt::format("event create: {} is there already", name_of(object)));
    complete(documents_.emplace_back(object));
}

void World::erase(const Json& what, Faults& faults) {
    Json* found = nullptr;
    if (what.is_string()) {
        found = find_pod(full_name(what.get<std::string>()));
    } else if (what.is_object()) {
        const std::string kind = what.value("kind", "Pod");
        const std::string name = what.value("name", "");
        found = find(kind, cluster_wide(kind) ? name : fmt::format("{}/{}", what.value("namespace", "default"), name));
    }
    if (found == nullptr) {
        faults.push_back(fmt::format("event delete: there is no {}", what.dump()));
        return;
    }
    if (is_terminating(*found)) gone_.push_back(*found);
    remove(found);
}

void World::merge(const Json& change, Faults& faults) {
    Json* found =
        change.is_object() && change.contains("metadata") ? find(change.value("kind", ""), name_of(change)) : nullptr;
    if (found == nullptr)
        faults.push_back(fmt::format("event set: there is no {}", change.dump()));
    else
        found->merge_patch(change);
}

void World::return_victims() {
    for (Json pod : gone_) {
        Json& metadata = pod["metadata"];
        metadata["name"] = metadata.value("name", "") + "-again";
        metadata["creationTimestamp"] = format_time(now_);
        for (const char* key : {"deletionTimestamp", "deletionGracePeriodSeconds", "uid"})
            metadata.erase(key);
        if (metadata.contains("annotations")) metadata["annotations"].erase("reprieve.dev/devices");
        pod["spec"].erase("nodeName");
        pod["status"] = {{"phase", "Pending"}};
        documents_.push_back(std::move(pod));
    }
    gone_.clear();
}

}  // namespace reprieve::scenario
