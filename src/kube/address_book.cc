#include "kube/address_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kube/json_parts.h"
#include "kube/kinds.h"
#include "model/revision.h"

namespace reprieve {
namespace {

std::string full_name(StringId ns, StringId name, const Vocabulary& words) {
    return fmt::format("{}/{}", words.text(ns), words.text(name));
}

std::string label(const Labels& labels, std::string_view key, const Vocabulary& words) {
    const StringId id = words.find_string(key);
    return id ? words.str(labels.get(id)) : std::string();
}

// Which serving deployment and plane a workload is the commit of; an empty name: none.
std::pair<std::string, std::string> plane_of(const Workload& workload, const Vocabulary& words) {
    if (workload.kind != WorkloadKind::kDeployment && workload.kind != WorkloadKind::kRevision) return {};
    // The Deployment that a Revision owns is the Revision's business.
    if (words.text(workload.owner.kind) == "Revision") return {};
    std::string serving = label(workload.labels, "reprieve.dev/serving", words);
    if (serving.empty() && workload.desired_replicas) serving = words.str(workload.name);
    if (serving.empty()) return {};
    std::string plane = label(workload.labels, "reprieve.dev/plane", words);
    return {fmt::format("{}/{}", words.text(workload.ns), serving), plane.empty() ? "default" : plane};
}

std::string workload_path(const Workload& workload, const Vocabulary& words, std::string_view api_version) {
    const char* plural = workload.kind == WorkloadKind::kRevision ? "revisions" : "deployments";
    return object_path(api_version, words.text(workload.ns), plural, words.text(workload.name));
}

// The Volcano job that an object was made for; empty: none.
std::string job_of(const nlohmann::json& object) {
    const nlohmann::json::json_pointer path("/metadata/ownerReferences");
    if (!object.contains(path) || !object.at(path).is_array()) return {};
    for (const auto& owner : object.at(path)) {
        if (text_at(owner, "kind") == "Job" && text_at(owner, "apiVersion").starts_with("batch.volcano.sh/"))
            return text_at(owner, "name");
    }
    return {};
}

void read_group_status(const nlohmann::json& group, GangAddress& out) {
    if (!group.contains("status") || !group["status"].is_object()) return;
    const nlohmann::json& status = group["status"];
    if (status.contains("phase") && status["phase"].is_string()) out.phase = status["phase"].get<std::string>();
    const auto number = [&](const char* key) {
        return status.contains(key) && status[key].is_number_integer() ? status[key].get<std::int32_t>() : 0;
    };
    out.running = number("running");
    out.succeeded = number("succeeded");
    out.failed = number("failed");
    if (!status.contains("conditions") || !status["conditions"].is_array()) return;
    for (const auto& condition : status["conditions"]) {
        if (!condition.is_object()) continue;
        const std::string type = condition.value("type", "");
        const bool is_it = type == "PodGroupInitiallyScheduled" || type == "PodGroupScheduled";
        if (is_it && condition.value("status", "") == "True") out.initially_scheduled = true;
    }
}

}  // namespace

void AddressBook::enter(const Gang& gang,
                        const Vocabulary& words,
                        const std::string& api_version,
                        std::string_view json) {
    GangAddress address{.dialect = gang.dialect,
                        .path = object_path(api_version, words.text(gang.ns), "podgroups", words.text(gang.name)),
                        .version = {},
                        .min_members = gang.min_members,
                        .phase = {},
                        .queue = words.str(gang.queue)};
    if (const nlohmann::json group = nlohmann::json::parse(json, nullptr, false); group.is_object()) {
        read_group_status(group, address);
        if (group.contains("metadata")) address.version = text_at(group["metadata"], "resourceVersion");
        if (const std::string job = job_of(group); !job.empty())
            address.job = fmt::format("{}/{}", words.text(gang.ns), job);
    }
    const std::lock_guard lock(mutex_);
    gangs_[full_name(gang.ns, gang.name, words)] = std::move(address);
}

void AddressBook::enter(const Queue& queue, const Vocabulary& words, const std::string& api_version) {
    std::string path = object_path(api_version,
                                   queue.is_quota ? words.text(queue.ns) : std::string_view(),
                                   queue.is_quota ? "elasticquotas" : "queues",
                                   words.text(queue.name));
    const std::lock_guard lock(mutex_);
    // A quota is also known by its namespace: there may be another of its name elsewhere.
    if (queue.ns) queues_[full_name(queue.ns, queue.name, words)] = path;
    queues_[words.str(queue.name)] = std::move(path);
    if (!queue.is_quota) is_open_[words.str(queue.name)] = queue.open;
}

void AddressBook::enter(const Workload& workload, const Vocabulary& words, const std::string& api_version) {
    const Plane plane = plane_of(workload, words);
    const std::string path = workload_path(workload, words, api_version);
    const std::lock_guard lock(mutex_);
    forget_commit(path);
    if (plane.first.empty()) return;
    commits_[plane][path] = {.is_revision = workload.kind == WorkloadKind::kRevision,
                             .gets_traffic = gets_traffic(workload, words)};
    planes_[path] = plane;
}

void AddressBook::forget_commit(const std::string& path) {
    const auto known = planes_.find(path);
    if (known == planes_.end()) return;
    const auto there = commits_.find(known->second);
    there->second.erase(path);
    if (there->second.empty()) commits_.erase(there);
    planes_.erase(known);
}

void AddressBook::enter_job(const Workload& job, const Vocabulary& words, std::string_view json) {
    const nlohmann::json object = nlohmann::json::parse(json, nullptr, false);
    std::string scheduler;
    if (object.is_object() && object.contains("spec")) scheduler = text_at(object["spec"], "schedulerName");
    const std::lock_guard lock(mutex_);
    jobs_[full_name(job.ns, job.name, words)] = std::move(scheduler);
}

void AddressBook::see(const Object& object,
                      const Vocabulary& words,
                      const std::string& api_version,
                      std::string_view json) {
    if (const auto* gang = std::get_if<Gang>(&object)) enter(*gang, words, api_version, json);
    if (const auto* queue = std::get_if<Queue>(&object)) enter(*queue, words, api_version);
    if (const auto* cls = std::get_if<DeviceClass>(&object)) claims_.see_class(words.str(cls->name), json);
    const auto* workload = std::get_if<Workload>(&object);
    if (workload && workload->kind == WorkloadKind::kVolcanoJob) return enter_job(*workload, words, json);
    if (workload) enter(*workload, words, api_version);
}

void AddressBook::see_gone(const Object& object, const Vocabulary& words) {
    if (const auto* cls = std::get_if<DeviceClass>(&object)) claims_.see_class_gone(words.str(cls->name));
    const std::lock_guard lock(mutex_);
    if (const auto* gang = std::get_if<Gang>(&object)) gangs_.erase(full_name(gang->ns, gang->name, words));
    if (const auto* queue = std::get_if<Queue>(&object)) {
        if (queue->ns) queues_.erase(full_name(queue->ns, queue->name, words));
        queues_.erase(words.str(queue->name));
        is_open_.erase(words.str(queue->name));
    }
    if (const auto* workload = std::get_if<Workload>(&object)) {
        if (workload->kind == WorkloadKind::kVolcanoJob) jobs_.erase(full_name(workload->ns, workload->name, words));
        const bool is_revision = workload->kind == WorkloadKind::kRevision;
        forget_commit(workload_path(*workload, words, is_revision ? "serving.knative.dev/v1" : "apps/v1"));
    }
}

std::optional<GangAddress> AddressBook::gang(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = gangs_.find(name);
    return found == gangs_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> AddressBook::queue(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = queues_.find(name);
    return found == queues_.end() ? std::nullopt : std::optional(found->second);
}

// Where there are no queues at all, everybody is in.
bool AddressBook::lets_in(const std::string& queue) const {
    if (is_open_.empty()) return true;
    const auto found = is_open_.find(queue.empty() ? "default" : queue);
    return found != is_open_.end() && found->second;
}

std::vector<std::string> AddressBook::gangs_to_let_in(const Serves& serves) const {
    std::vector<std::string> found;
    const std::lock_guard lock(mutex_);
    for (const auto& [name, gang] : gangs_) {
        const bool is_outside = gang.dialect == GangDialect::kVolcano &&
                                (gang.phase.empty() || gang.phase == "Pending") && lets_in(gang.queue);
        const auto job = is_outside ? jobs_.find(gang.job) : jobs_.end();
        if (job != jobs_.end() && serves(job->second)) found.push_back(name);
    }
    return found;
}

std::optional<CommitAddress> AddressBook::commit(const std::string& serving, const std::string& plane) const {
    const std::lock_guard lock(mutex_);
    const auto found = commits_.find({serving, plane});
    if (found == commits_.end()) return std::nullopt;
    auto chosen = std::ranges::find_if(found->second, [](const auto& entry) { return entry.second.gets_traffic; });
    if (chosen == found->second.end()) chosen = found->second.begin();
    return CommitAddress{.is_revision = chosen->second.is_revision, .path = chosen->first};
}

}  // namespace reprieve
