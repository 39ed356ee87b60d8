#include "manifest/soft_note.h"

#include <nlohmann/json.hpp>

namespace reprieve {

std::string soft_note(const Eviction& eviction, Time now) {
    using Json = nlohmann::ordered_json;
    const Json note{{"preemptJob", eviction.owner},
                    {"reason", eviction.reason},
                    {"initiator", SoftEviction::kOurs},
                    {"timestamp", format_time({now.us - now.us % 1'000'000})}};
    return note.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace reprieve
