#include "kube/bodies.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kube/json_parts.h"

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kMark = "DisruptionTarget";
constexpr std::string_view kOurWords = "reprieve: ";  // a mark's message begins so

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// The UID makes the server refuse the patch where another pod has taken the name.
Json metadata_of(const std::string& uid) {
    Json metadata = Json::object();
    if (!uid.empty()) metadata["uid"] = uid;
    return metadata;
}

Json unschedulable(const std::string& message, Time now) {
    return condition("PodScheduled", "False", "Unschedulable", message, now);
}

}  // namespace

std::string condition_time(Time time) { return format_time({time.us - time.us % 1'000'000}); }

std::string micro_time(Time time) {
    std::string whole = condition_time(time);
    whole.pop_back();  // Z
    return fmt::format("{}.{:06}Z", whole, time.us % 1'000'000);
}

std::string for_whom(const Eviction& eviction) {
    return eviction.owner.empty() ? "to bring its queue back to its share" : "for " + eviction.owner;
}

std::string nomination_body(const std::string& uid,
                            const std::string& node,
                            const std::optional<std::string>& note,
                            const std::string& message,
                            Time now) {
    Json metadata = metadata_of(uid);
    if (note) metadata["annotations"] = {{kPlanAnnotation, note->empty() ? Json(nullptr) : Json(*note)}};
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
    const Json mark = condition(kMark, "True", "PreemptionByScheduler", fmt::format("{}{}", kOurWords, message), now);
    return text_of({{"metadata", metadata}, {"status", {{"conditions", Json::array({mark})}}}});
}

bool has_our_mark(std::string_view pod_json) {
    const nlohmann::json pod = nlohmann::json::parse(pod_json, nullptr, false);
    const nlohmann::json::json_pointer path("/status/conditions");
    if (!pod.is_object() || !pod.contains(path) || !pod.at(path).is_array()) return false;
    return std::ranges::any_of(pod.at(path), [](const nlohmann::json& one) {
        const auto text = [&](const char* key) {
            const auto found = one.is_object() ? one.find(key) : one.end();
            return found != one.end() && found->is_string() ? found->get<std::string>() : std::string();
        };
        return text("type") == kMark && text("message").starts_with(kOurWords);
    });
}

std::string unmark_body(const std::string& uid, const std::vector<std::string>& notes) {
    const Json gone = {{"type", kMark}, {"$patch", "delete"}};
    Json metadata = metadata_of(uid);
    for (const std::string& key : notes)
        metadata["annotations"][key] = nullptr;
    return text_of({{"metadata", metadata}, {"status", {{"conditions", Json::array({gone})}}}});
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
