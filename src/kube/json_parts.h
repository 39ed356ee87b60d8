// Parts of the server's objects that several readers and writers know.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/time.h"

namespace reprieve {

// Empty: there is no such key, or no text under it.
[[nodiscard]] std::string text_at(const nlohmann::json& object, const char* key);

// An entry of status.conditions.
[[nodiscard]] nlohmann::ordered_json condition(
    const char* type, const char* status, const std::string& reason, const std::string& message, Time now);

}  // namespace reprieve
