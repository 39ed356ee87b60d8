#include "scaling.h"

#include <fmt/format.h>

#include <algorithm>

namespace reprieve::scenario {
namespace {

constexpr const char* kMinScale = "autoscaling.knative.dev/min-scale";
constexpr const char* kMaxScale = "autoscaling.knative.dev/max-scale";

std::string full_name_of(const Json& object) {
    const Json& metadata = object["metadata"];
    return fmt::format("{}/{}", metadata.value("namespace", "default"), metadata.value("name", ""));
}

Json* find(std::vector<Json>& documents, const std::string& kind, const std::string& name) {
    const auto it = std::ranges::find_if(
        documents, [&](const Json& d) { return d.value("kind", "") == kind && full_name_of(d) == name; });
    return it == documents.end() ? nullptr : &*it;
}

bool is_commit_of(const Json& workload, const std::string& deployment, const std::string& plane) {
    const std::string kind = workload.value("kind", "");
    const bool knative = kind == "Service" && workload.value("apiVersion", "").starts_with("serving.knative.dev/");
    if (kind != "Deployment" && kind != "Revision" && !knative) return false;
    const Json labels = workload["metadata"].value("labels", Json::object());
    const std::string serving = labels.value("reprieve.dev/serving", workload["metadata"].value("name", ""));
    return fmt::format("{}/{}", workload["metadata"].value("namespace", "default"), serving) == deployment &&
           labels.value("reprieve.dev/plane", "default") == plane;
}

bool write_commit(Json& workload, std::int64_t to) {
    if (workload["kind"] == "Revision")
        workload["metadata"]["annotations"][kMaxScale] = fmt::format("{}", to);
    else if (workload["kind"] == "Service")
        workload["spec"]["template"]["metadata"]["annotations"][kMinScale] = fmt::format("{}", to);
    else
        workload["spec"]["replicas"] = to;
    return true;
}

bool write_commit(Json& serving, const std::string& plane, std::int64_t to) {
    for (Json& entry : serving["spec"]["planes"]) {
        if (entry.value("name", "") != plane) continue;
        entry["committed"] = to;
        return true;
    }
    return false;
}

void scale(const Json& change, std::vector<Json>& documents, Faults& faults) {
    const std::string deployment = change.value("deployment", "");
    const std::string plane = change.value("plane", "");
    const std::int64_t to = change.value("to", std::int64_t{0});
    const auto workload =
        std::ranges::find_if(documents, [&](const Json& d) { return is_commit_of(d, deployment, plane); });
    Json* serving = find(documents, "ServingDeployment", deployment);
    const bool done = workload != documents.end() ? write_commit(*workload, to)
                                                  : serving != nullptr && write_commit(*serving, plane, to);
    if (!done) faults.push_back(fmt::format("scales {} in {}, which is not there", deployment, plane));
}

void annotate(const Json& change, std::vector<Json>& documents, Faults& faults) {
    Json* pod = find(documents, "Pod", change.value("pod", ""));
    if (pod == nullptr)
        return faults.push_back(fmt::format("annotates {}, which is not there", change.value("pod", "")));
    Json& notes = (*pod)["metadata"]["annotations"];
    if (notes.is_null()) notes = Json::object();
    if (change.contains("set")) notes.update(change["set"]);
    for (const Json& key : change.value("remove", Json::array())) {
        if (notes.erase(key.get<std::string>()) == 0)
            faults.push_back(fmt::format("takes {} from {}, which has none", key.dump(), change.value("pod", "")));
    }
}

void delete_by_force(const std::string& name, Time now, std::vector<Json>& documents, Faults& faults) {
    Json* pod = find(documents, "Pod", name);
    if (pod == nullptr || !(*pod)["metadata"].contains("deletionTimestamp"))
        return faults.push_back(fmt::format("deletes {} by force, which is not terminating", name));
    (*pod)["metadata"]["deletionTimestamp"] = format_time(now + Duration{1'000'000});
    (*pod)["metadata"]["deletionGracePeriodSeconds"] = 1;
}

}  // namespace

void follow_serving(const Json& plan, Time now, std::vector<Json>& documents, Faults& faults) {
    for (const Json& change : plan["annotations"])
        annotate(change, documents, faults);
    for (const Json& change : plan["scale"])
        scale(change, documents, faults);
    for (const Json& name : plan["forceDeletes"])
        delete_by_force(name.get<std::string>(), now, documents, faults);
}

}  // namespace reprieve::scenario
