#include "manifest/plan_note.h"

#include <nlohmann/json.hpp>

namespace reprieve {

std::string plan_note(const std::string& plan_id, const Intent& intent, const std::string& seen) {
    using Json = nlohmann::ordered_json;
    Json note{{"id", plan_id},
              {"node", intent.node},
              {"victims", intent.victims},
              {"deadline", format_time({intent.deadline.us - intent.deadline.us % 1'000'000})}};
    if (!intent.devices.empty()) note["devices"] = intent.devices;
    if (!seen.empty()) note["seen"] = seen;
    return note.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace reprieve
