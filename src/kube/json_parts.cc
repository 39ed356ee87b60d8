#include "kube/json_parts.h"

#include <nlohmann/json.hpp>

#include "kube/bodies.h"

namespace reprieve {

std::string text_at(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

nlohmann::ordered_json condition(
    const char* type, const char* status, const std::string& reason, const std::string& message, Time now) {
    return {{"type", type},
            {"status", status},
            {"reason", reason},
            {"message", message},
            {"lastTransitionTime", condition_time(now)}};
}

}  // namespace reprieve
