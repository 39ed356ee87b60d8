#include "manifest/queue_notes.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::map<std::string, std::string> quantities_of(const NamedAmounts& amounts) {
    std::map<std::string, std::string> list;
    for (const auto& [resource, amount] : amounts)
        list[resource] = fmt::format("{}{}", amount, resource == "cpu" ? "m" : "");
    return list;
}

std::map<std::string, std::string> queue_notes(const QueueReport& report) {
    const auto allocated = report.shares.find("allocated");
    if (allocated == report.shares.end() || !report.shares.contains("preempting")) return {};
    Json status = Json::object();
    for (const char* share : {"deserved", "allocated", "used", "preempting"}) {
        const auto found = report.shares.find(share);
        if (found != report.shares.end()) status[share] = quantities_of(found->second);
    }
    return {{"reprieve.dev/allocated", Json(quantities_of(allocated->second)).dump()},
            {"reprieve.dev/queue-status", status.dump()}};
}

}  // namespace reprieve
