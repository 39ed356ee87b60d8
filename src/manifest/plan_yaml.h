// A JSON document as block YAML, with strings quoted wherever a reader could take them for something else.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace reprieve {

[[nodiscard]] std::string yaml_of(const nlohmann::ordered_json& document);

}  // namespace reprieve
