// Reading JSON without surprises: what is not there, or of another type, is the default.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace reprieve {

using Json = nlohmann::json;
using JsonPath = std::initializer_list<std::string_view>;

// Null where a part of the path is missing.
[[nodiscard]] const Json* find_path(const Json& body, JsonPath path);
[[nodiscard]] std::string text_at(const Json& body, JsonPath path);
[[nodiscard]] std::int64_t number_at(const Json& body, JsonPath path, std::int64_t otherwise);

[[nodiscard]] bool is_true(const Json& body, JsonPath path);
// Whether status.conditions has this type with status "True".
[[nodiscard]] bool has_condition(const Json& body, std::string_view type);

// Whether somebody still has to agree before the object goes.
[[nodiscard]] bool has_finalizers(const Json& body);

// The value there, made if need be; whatever is in the way is replaced.
Json& make_path(Json& body, JsonPath path);
void erase_path(Json& body, JsonPath path);

// Sets the condition of that type in status.conditions.
void set_condition(Json& body, std::string_view type, bool status, std::string_view reason);

}  // namespace reprieve
