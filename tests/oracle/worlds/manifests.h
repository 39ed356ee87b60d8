// A world as manifests, and the configuration it is planned with.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "world.h"

namespace reprieve::worlds {

using Json = nlohmann::json;

[[nodiscard]] std::vector<Json> documents(const World& world);
[[nodiscard]] Json config(const World& world);
// The same without evictions.
[[nodiscard]] Json config_to_allocate();

}  // namespace reprieve::worlds
