#include "manifest/queue_notes.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kOverSince = "reprieve.dev/over-since";

}  // namespace

std::map<std::string, std::string> quantities_of(const NamedAmounts& amounts) {
    std::map<std::string, std::string> list;
    for (const auto& [resource, amount] : amounts)
        list[resource] = fmt::format("{}{}", amount, resource == "cpu" ? "m" : "");
    return list;
}

QueueNotes queue_notes(const QueueReport& report) {
    QueueNotes notes;
    if (report.over_since && report.over_since->is_set())
        notes.set[kOverSince] = format_time(*report.over_since);
    else if (report.over_since)
        notes.remove.emplace_back(kOverSince);
    const auto allocated = report.shares.find("allocated");
    if (allocated == report.shares.end() || !report.shares.contains("preempting")) return notes;
    Json status = Json::object();
    for (const char* share : {"deserved", "allocated", "used", "preempting"}) {
        const auto found = report.shares.find(share);
        if (found != report.shares.end()) status[share] = quantities_of(found->second);
    }
    notes.set["reprieve.dev/allocated"] = Json(quantities_of(allocated->second)).dump();
    notes.set["reprieve.dev/queue-status"] = status.dump();
    return notes;
}

}  // namespace reprieve
