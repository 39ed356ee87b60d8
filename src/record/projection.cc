#include "record/projection.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <vector>

#include "manifest/key.h"
#include "record/read_fields.h"

namespace reprieve {
namespace {

using Value = simdjson::ondemand::value;
using JsonObject = simdjson::ondemand::object;

// Everything below these is kept: names in them are people's, not Kubernetes'.
constexpr KeyId kWhole[] = {
    "labels"_key,        "matchLabels"_key,   "nodeSelector"_key, "requests"_key,         "limits"_key,
    "allocatable"_key,   "capacity"_key,      "overhead"_key,     "allocated"_key,        "allocatedResources"_key,
    "min"_key,           "max"_key,           "deserved"_key,     "capability"_key,       "minResources"_key,
    "minTaskMember"_key, "disruptedPods"_key, "attributes"_key,   "consumedCapacity"_key, "counters"_key,
    "resource"_key,
};

// Whose messages say who was evicted for whom.
constexpr std::string_view kToldEvictions[] = {"DisruptionTarget", "TerminationTarget", "Evicted", "Preempted"};
// Conditions of pods that something depends on.
constexpr std::string_view kPodConditions[] = {"Ready", "PodResizePending", "DisruptionTarget", "TerminationTarget"};
// Of the status of a container.
constexpr KeyId kContainerStatus[] = {"name"_key, "allocatedResources"_key, "resources"_key};

// A field's name as it is written, from behind its opening quote.
std::string_view raw_name(const char* start) {
    const char* end = start;
    while (*end != '"')
        end += *end == '\\' ? 2 : 1;
    return {start, static_cast<std::size_t>(end - start)};
}

template <class List, class T>
bool among(const List& list, const T& value) {
    return std::ranges::find(list, value) != std::end(list);
}

}  // namespace

struct Projection::Walk {
    Walk() {
        for (const std::string_view field : kReadFields)
            known.push_back(key_id(field));
        std::ranges::sort(known);
    }

    [[nodiscard]] bool keeps(KeyId key) const { return std::ranges::binary_search(known, key); }

    // All of these return false where the document is not JSON after all.
    bool object(JsonObject at);
    bool list(simdjson::ondemand::array at);
    bool field(KeyId key, Value& value);
    bool value(Value& at);
    bool whole(Value& at);
    bool notes(Value& at);
    bool conditions(Value& at);
    bool condition(JsonObject at, bool& kept);
    bool container_statuses(Value& at);
    bool root(std::string_view api_version, std::string_view object_kind, JsonObject at);

    template <class Keep, class Write>
    bool fields(JsonObject at, Keep&& keep, Write&& write) {
        *out += '{';
        bool first = true;
        for (auto found : at) {
            simdjson::ondemand::raw_json_string key;
            Value inner;
            if (found.key().get(key) != simdjson::SUCCESS || found.value().get(inner) != simdjson::SUCCESS)
                return false;
            const std::string_view name = raw_name(key.raw());
            const KeyId id = key_id(name);
            if (!keep(id, name) || inner.is_null().value_unsafe()) continue;
            const std::size_t before = out->size();
            if (!first) *out += ',';
            (((*out += '"') += name) += "\":");
            const std::size_t start = out->size();
            if (!write(id, inner)) return false;
            if (out->size() == start)
                out->resize(before);  // nothing of it is kept
            else
                first = false;
        }
        *out += '}';
        return true;
    }

    simdjson::ondemand::parser parser;
    std::string padded;
    std::vector<KeyId> known;
    std::string* out = nullptr;
    bool is_pod = false;
    bool is_serving = false;  // whose resources are amounts; others' are requests and limits
};

bool Projection::Walk::object(JsonObject at) {
    return fields(
        at, [&](KeyId id, std::string_view) { return keeps(id); }, [&](KeyId id, Value& v) { return field(id, v); });
}

bool Projection::Walk::list(simdjson::ondemand::array at) {
    *out += '[';
    bool first = true;
    for (auto item : at) {
        Value inner;
        if (item.get(inner) != simdjson::SUCCESS) return false;
        if (!first) *out += ',';
        first = false;
        if (!value(inner)) return false;
    }
    *out += ']';
    return true;
}

bool Projection::Walk::value(Value& at) {
    simdjson::ondemand::json_type type{};
    if (at.type().get(type) != simdjson::SUCCESS) return false;
    if (type == simdjson::ondemand::json_type::object) {
        JsonObject inner;
        return at.get_object().get(inner) == simdjson::SUCCESS && object(inner);
    }
    if (type == simdjson::ondemand::json_type::array) {
        simdjson::ondemand::array inner;
        return at.get_array().get(inner) == simdjson::SUCCESS && list(inner);
    }
    return whole(at);
}

bool Projection::Walk::whole(Value& at) {
    simdjson::ondemand::json_type type{};
    if (at.type().get(type) != simdjson::SUCCESS) return false;
    std::string_view text;
    if (type == simdjson::ondemand::json_type::object) {
        JsonObject inner;
        if (at.get_object().get(inner) != simdjson::SUCCESS || inner.raw_json().get(text) != simdjson::SUCCESS)
            return false;
    } else if (type == simdjson::ondemand::json_type::array) {
        simdjson::ondemand::array inner;
        if (at.get_array().get(inner) != simdjson::SUCCESS || inner.raw_json().get(text) != simdjson::SUCCESS)
            return false;
    } else {
        text = at.raw_json_token();
    }
    while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\r' || text.back() == '\t'))
        text.remove_suffix(1);
    // A line is a line: whoever writes JSON over several is joined.
    for (const char c : text)
        *out += c == '\n' || c == '\r' ? ' ' : c;
    return true;
}

bool Projection::Walk::field(KeyId key, Value& inner) {
    switch (key) {
        case "annotations"_key:
            return notes(inner);
        case "conditions"_key:
            return conditions(inner);
        case "containerStatuses"_key:
        case "initContainerStatuses"_key:
            return container_statuses(inner);
        case "resources"_key:
            return is_serving ? whole(inner) : value(inner);
        default:
            return among(kWhole, key) ? whole(inner) : value(inner);
    }
}

bool Projection::Walk::notes(Value& at) {
    JsonObject all;
    if (at.get_object().get(all) != simdjson::SUCCESS) return whole(at);
    return fields(
        all,
        [&](KeyId id, std::string_view name) { return keeps(id) || name.starts_with("reprieve.dev/"); },
        [&](KeyId, Value& v) { return whole(v); });
}

bool Projection::Walk::condition(JsonObject at, bool& kept) {
    std::string_view type;
    if (at["type"].get_string().get(type) != simdjson::SUCCESS) type = {};
    kept = !is_pod || among(kPodConditions, type);
    if (at.reset().error() != simdjson::SUCCESS) return false;
    if (!kept) return true;
    const bool told = among(kToldEvictions, type);
    return fields(
        at,
        [&](KeyId id, std::string_view) {
            return keeps(id) || (told && (id == "message"_key || id == "lastTransitionTime"_key));
        },
        [&](KeyId, Value& v) { return value(v); });
}

bool Projection::Walk::conditions(Value& at) {
    simdjson::ondemand::array all;
    if (at.get_array().get(all) != simdjson::SUCCESS) return whole(at);
    *out += '[';
    bool first = true;
    for (auto item : all) {
        JsonObject one;
        if (item.get_object().get(one) != simdjson::SUCCESS) return false;
        const std::size_t before = out->size();
        if (!first) *out += ',';
        bool kept = false;
        if (!condition(one, kept)) return false;
        if (kept)
            first = false;
        else
            out->resize(before);
    }
    *out += ']';
    return true;
}

bool Projection::Walk::container_statuses(Value& at) {
    simdjson::ondemand::array all;
    if (at.get_array().get(all) != simdjson::SUCCESS) return whole(at);
    *out += '[';
    bool first = true;
    for (auto item : all) {
        JsonObject one;
        if (item.get_object().get(one) != simdjson::SUCCESS) return false;
        if (!first) *out += ',';
        first = false;
        const bool fine = fields(
            one,
            [](KeyId id, std::string_view) { return among(kContainerStatus, id); },
            [&](KeyId id, Value& v) { return field(id, v); });
        if (!fine) return false;
    }
    *out += ']';
    return true;
}

bool Projection::Walk::root(std::string_view api_version, std::string_view object_kind, JsonObject at) {
    // In a list of the API server the items do not say what they are.
    std::string_view written;
    if (at["apiVersion"].get_string().get(written) == simdjson::SUCCESS && !written.empty()) api_version = written;
    if (at["kind"].get_string().get(written) == simdjson::SUCCESS && !written.empty()) object_kind = written;
    const std::string header =
        "{\"apiVersion\":\"" + std::string(api_version) + "\",\"kind\":\"" + std::string(object_kind) + "\"";
    is_pod = object_kind == "Pod";
    is_serving = object_kind == "ServingDeployment";
    if (at.reset().error() != simdjson::SUCCESS) return false;
    const std::size_t start = out->size();
    const bool fine = fields(
        at,
        [&](KeyId id, std::string_view) { return id != "apiVersion"_key && id != "kind"_key && keeps(id); },
        [&](KeyId id, Value& v) { return field(id, v); });
    if (!fine) return false;
    const bool empty = out->size() == start + 2;
    out->replace(start, 1, header + (empty ? "" : ","));
    return true;
}

Projection::Projection() : walk_(std::make_unique<Walk>()) {}
Projection::~Projection() = default;

bool Projection::project(std::string_view api_version, std::string_view kind, std::string_view json, std::string& out) {
    out.clear();
    walk_->padded.reserve(json.size() + simdjson::SIMDJSON_PADDING);
    walk_->padded.assign(json);
    walk_->out = &out;
    simdjson::ondemand::document document;
    JsonObject object;
    if (walk_->parser.iterate(walk_->padded.data(), json.size(), walk_->padded.capacity()).get(document) !=
        simdjson::SUCCESS)
        return false;
    if (document.get_object().get(object) != simdjson::SUCCESS) return false;
    return walk_->root(api_version, kind, object);
}

}  // namespace reprieve
