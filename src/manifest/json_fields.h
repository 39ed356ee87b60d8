// Writes the fields of JSON documents: what has no value is left out, and every text is valid UTF-8.
// REQUIRES of `put`: the object has no such field yet.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/plan.h"

namespace reprieve {

using OrderedJson = nlohmann::ordered_json;

[[nodiscard]] OrderedJson list_of(const std::vector<std::string>& texts);
void put(OrderedJson& object, const char* key, const std::string& value);
void put(OrderedJson& object, const char* key, const std::vector<std::string>& texts);
void put(OrderedJson& object, const char* key, const CostVector& cost);
void put(OrderedJson& object, const char* key, const std::map<std::string, std::int64_t>& counts);

}  // namespace reprieve
