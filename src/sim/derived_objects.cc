#include "sim/derived_objects.h"

#include <fmt/format.h>

namespace reprieve {
namespace {

std::string namespace_of(const Json& body) {
    const std::string ns = text_at(body, {"metadata", "namespace"});
    return ns.empty() ? "default" : ns;
}

Json owner_reference_of(const Json& body) {
    Json owner = {{"apiVersion", text_at(body, {"apiVersion"})},
                  {"kind", text_at(body, {"kind"})},
                  {"name", text_at(body, {"metadata", "name"})},
                  {"controller", true}};
    if (std::string uid = text_at(body, {"metadata", "uid"}); !uid.empty()) owner["uid"] = std::move(uid);
    return owner;
}

// One Job for each replica of each replicated job: NAME-JOB-0, NAME-JOB-1, ...
std::vector<Json> jobs_of(const Json& set) {
    std::vector<Json> out;
    const Json* replicated = find_path(set, {"spec", "replicatedJobs"});
    const Json* suspended = find_path(set, {"spec", "suspend"});
    if (replicated == nullptr || !replicated->is_array() || (suspended != nullptr && *suspended == true)) return out;
    for (const Json& job : *replicated) {
        for (std::int64_t i = 0; i < number_at(job, {"replicas"}, 1); ++i) {
            Json made = {{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"metadata", Json::object()}};
            if (const Json* metadata = find_path(job, {"template", "metadata"});
                metadata != nullptr && metadata->is_object())
                made["metadata"] = *metadata;
            made["metadata"]["name"] =
                fmt::format("{}-{}-{}", text_at(set, {"metadata", "name"}), text_at(job, {"name"}), i);
            made["metadata"]["namespace"] = namespace_of(set);
            made["metadata"]["ownerReferences"] = Json::array({owner_reference_of(set)});
            if (const Json* spec = find_path(job, {"template", "spec"})) made["spec"] = *spec;
            out.push_back(std::move(made));
        }
    }
    return out;
}

// Leaders are NAME-0, NAME-1, ..., the workers of each NAME-0-1, NAME-0-2, ...: both come from StatefulSets.
std::vector<Json> pods_of(const Json& set) {
    std::vector<Json> out;
    const Json* worker = find_path(set, {"spec", "leaderWorkerTemplate", "workerTemplate"});
    const Json* leader = find_path(set, {"spec", "leaderWorkerTemplate", "leaderTemplate"});
    const std::string name = text_at(set, {"metadata", "name"});
    const auto add = [&](const Json* from, const std::string& stateful_set, const std::string& pod) {
        const Json owner = {
            {"apiVersion", "apps/v1"}, {"kind", "StatefulSet"}, {"name", stateful_set}, {"controller", true}};
        Json made = pod_from_template(from, owner, pod);
        made["metadata"]["namespace"] = namespace_of(set);
        make_path(made, {"metadata", "labels", "leaderworkerset.sigs.k8s.io/name"}) = name;
        out.push_back(std::move(made));
    };
    for (std::int64_t group = 0; group < number_at(set, {"spec", "replicas"}, 1); ++group) {
        const std::string head = fmt::format("{}-{}", name, group);
        add(leader != nullptr && leader->is_object() ? leader : worker, name, head);
        for (std::int64_t i = 1; i < number_at(set, {"spec", "leaderWorkerTemplate", "size"}, 1); ++i)
            add(worker, head, fmt::format("{}-{}", head, i));
    }
    return out;
}

}  // namespace

Json pod_from_template(const Json* pod_template, const Json& owner, const std::string& name) {
    Json pod = {{"apiVersion", "v1"},
                {"kind", "Pod"},
                {"metadata", Json::object()},
                {"spec", Json::object()},
                {"status", {{"phase", "Pending"}}}};
    if (pod_template != nullptr) {
        for (const char* part : {"labels", "annotations"}) {
            if (const Json* notes = find_path(*pod_template, {"metadata", part});
                notes != nullptr && notes->is_object())
                pod["metadata"][part] = *notes;
        }
        if (const Json* spec = find_path(*pod_template, {"spec"}); spec != nullptr && spec->is_object())
            pod["spec"] = *spec;
    }
    pod["metadata"]["name"] = name;
    pod["metadata"]["ownerReferences"] = Json::array({owner});
    return pod;
}

std::vector<Json> derived_objects(const Json& body) {
    const std::string kind = text_at(body, {"kind"});
    if (kind == "JobSet") return jobs_of(body);
    return kind == "LeaderWorkerSet" ? pods_of(body) : std::vector<Json>();
}

}  // namespace reprieve
