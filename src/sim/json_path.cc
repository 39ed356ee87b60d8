#include "sim/json_path.h"

#include <algorithm>
#include <span>

namespace reprieve {
namespace {

// J: Json or const Json.
template <class J>
J* walk(J& body, std::span<const std::string_view> path) {
    J* at = &body;
    for (std::string_view part : path) {
        if (!at->is_object()) return nullptr;
        const auto found = at->find(part);
        if (found == at->end()) return nullptr;
        at = &*found;
    }
    return at;
}

}  // namespace

const Json* find_path(const Json& body, JsonPath path) { return walk(body, {path.begin(), path.end()}); }

std::string text_at(const Json& body, JsonPath path) {
    const Json* found = find_path(body, path);
    return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t number_at(const Json& body, JsonPath path, std::int64_t otherwise) {
    const Json* found = find_path(body, path);
    return found != nullptr && found->is_number_integer() ? found->get<std::int64_t>() : otherwise;
}

bool is_true(const Json& body, JsonPath path) {
    const Json* value = find_path(body, path);
    return value != nullptr && *value == true;
}

bool has_condition(const Json& body, std::string_view type) {
    const Json* conditions = find_path(body, {"status", "conditions"});
    return conditions != nullptr && conditions->is_array() && std::ranges::any_of(*conditions, [&](const Json& c) {
               return text_at(c, {"type"}) == type && text_at(c, {"status"}) == "True";
           });
}

bool has_finalizers(const Json& body) {
    const Json* finalizers = find_path(body, {"metadata", "finalizers"});
    return finalizers != nullptr && finalizers->is_array() && !finalizers->empty();
}

Json& make_path(Json& body, JsonPath path) {
    Json* at = &body;
    for (std::string_view part : path) {
        if (!at->is_object()) *at = Json::object();
        at = &(*at)[std::string(part)];
    }
    return *at;
}

void erase_path(Json& body, JsonPath path) {
    const std::span<const std::string_view> parts(path.begin(), path.end());
    Json* parent = walk(body, parts.first(parts.size() - 1));
    if (parent != nullptr && parent->is_object()) parent->erase(std::string(parts.back()));
}

void set_condition(Json& body, std::string_view type, bool status, std::string_view reason) {
    Json& conditions = make_path(body, {"status", "conditions"});
    if (!conditions.is_array()) conditions = Json::array();
    Json made = {{"type", type}, {"status", status ? "True" : "False"}};
    if (!reason.empty()) made["reason"] = reason;
    const auto same =
        std::find_if(conditions.begin(), conditions.end(), [&](const Json& c) { return text_at(c, {"type"}) == type; });
    if (same != conditions.end())
        *same = std::move(made);
    else
        conditions.push_back(std::move(made));
}

}  // namespace reprieve
