#include "kube/bodies.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// The UID makes the server refuse the patch where another pod has taken the name.
Json metadata_of(const std::string& uid) {
    Json metadata = Json::object();
    if (!uid.empty()) metadata["uid"] = uid;
    return metadata;
}

Json condition(const char* type, const char* status, const char* reason, const std::string& message, Time now) {
    return {{"type", type},
            {"status", status},
            {"reason", reason},
            {"message", message},
            {"lastTransitionTime", condition_time(now)}};
}

Json unschedulable(const std::string& message, Time now) {
    return condition("PodScheduled", "False", "Unschedulable", message, now);
}

std::string plan_text(const PlanRecord& plan) {
    return text_of(
        {{"id", plan.id}, {"node", plan.node}, {"victims", plan.victims}, {"deadline", condition_time(plan.deadline)}});
}

}  // namespace

std::string condition_time(Time time) { return format_time({time.us - time.us % 1'000'000}); }

std::string micro_time(Time time) {
    std::string whole = condition_time(time);
    whole.pop_back();  // Z
    return fmt::format("{}.{:06}Z", whole, time.us % 1'000'000);
}

std::string nomination_body(const std::string& uid,
                            const std::string& node,
                            const std::optional<PlanRecord>& plan,
                            const std::string& message,
                            Time now) {
    Json metadata = metadata_of(uid);
    if (plan) metadata["annotations"] = {{kPlanAnnotation, plan_text(*plan)}};
    return text_of(
        {{"metadata", metadata},
         {"status", {{"nominatedNodeName", node}, {"conditions", Json::array({unschedulable(message, now)})}}}});
}

std::string clear_nomination_body(const std::string& uid) {
    Json metadata = metadata_of(uid);
    metadata["annotations"] = {{kPlanAnnotation, nullptr}};
    return text_of({{"metadata", metadata}, {"status", {{"nominatedNodeName", nullptr}}}});
}

std::string unschedulable_body(const std::string& uid, const std::string& message, Time now) {
    return text_of(
        {{"metadata", metadata_of(uid)}, {"status", {{"conditions", Json::array({unschedulable(message, now)})}}}});
}

std::string mark_body(const std::string& uid,
                      const std::string& message,
                      Time now,
                      const std::map<std::string, std::string>& annotations) {
    Json metadata = metadata_of(uid);
    if (!annotations.empty()) metadata["annotations"] = annotations;
    return text_of({{"metadata", metadata},
                    {"status",
                     {{"conditions",
                       Json::array({condition("DisruptionTarget", "True", "PreemptionByScheduler", message, now)})}}}});
}

std::string unmark_body(const std::string& uid) {
    const Json gone = {{"type", "DisruptionTarget"}, {"$patch", "delete"}};
    return text_of({{"metadata", metadata_of(uid)}, {"status", {{"conditions", Json::array({gone})}}}});
}

std::string soft_eviction_text(const std::string& owner, const std::string& reason, Time now) {
    return text_of(
        {{"preemptJob", owner}, {"reason", reason}, {"initiator", "reprieve"}, {"timestamp", condition_time(now)}});
}

std::string delete_body(const std::string& uid, std::optional<std::int64_t> grace_seconds) {
    Json options = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
    if (grace_seconds) options["gracePeriodSeconds"] = *grace_seconds;
    if (!uid.empty()) options["preconditions"] = {{"uid", uid}};
    return text_of(options);
}

std::string eviction_body(const std::string& name, const std::string& uid) {
    Json eviction = {{"apiVersion", "policy/v1"}, {"kind", "Eviction"}, {"metadata", {{"name", name}}}};
    if (!uid.empty()) eviction["deleteOptions"] = {{"preconditions", {{"uid", uid}}}};
    return text_of(eviction);
}

std::string binding_body(const std::string& name,
                         const std::string& uid,
                         const std::string& node,
                         const std::vector<std::string>& devices) {
    Json metadata = metadata_of(uid);
    metadata["name"] = name;
    // The server copies a binding's annotations to the pod.
    if (!devices.empty()) metadata["annotations"] = {{kDevicesAnnotation, fmt::format("{}", fmt::join(devices, ","))}};
    return text_of({{"apiVersion", "v1"},
                    {"kind", "Binding"},
                    {"metadata", metadata},
                    {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}}}});
}

std::string annotations_body(const std::string& uid,
                             const std::map<std::string, std::string>& set,
                             const std::vector<std::string>& remove) {
    Json metadata = metadata_of(uid);
    Json& annotations = metadata["annotations"] = Json::object();
    for (const auto& [key, value] : set)
        annotations[key] = value;
    for (const std::string& key : remove)
        annotations[key] = nullptr;
    return text_of({{"metadata", metadata}});
}

std::string scale_body(std::int64_t from, std::int64_t to) {
    // A scale of 0 is written as nothing at all.
    const Json before = from > 0 ? Json{{"op", "test"}, {"path", "/spec/replicas"}, {"value", from}}
                                 : Json{{"op", "test"}, {"path", "/spec"}, {"value", Json::object()}};
    return text_of(Json::array({before, {{"op", "add"}, {"path", "/spec/replicas"}, {"value", to}}}));
}

std::string max_scale_body(std::int64_t from, std::int64_t to) {
    const char* path = "/metadata/annotations/autoscaling.knative.dev~1max-scale";
    return text_of(Json::array({{{"op", "test"}, {"path", path}, {"value", std::to_string(from)}},
                                {{"op", "replace"}, {"path", path}, {"value", std::to_string(to)}}}));
}

}  // namespace reprieve
