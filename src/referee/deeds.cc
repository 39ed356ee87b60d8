#include "referee/deeds.h"

#include <nlohmann/json.hpp>

#include "referee/marks.h"

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

std::string event_text(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::optional<ToldDeed> deed_of_event(std::string_view event_json) {
    const Json event = Json::parse(event_json, nullptr, false);
    if (!event.is_object()) return std::nullopt;
    const auto regarding = event.find("regarding");
    if (regarding == event.end() || !regarding->is_object() || event_text(*regarding, "kind") != "Pod")
        return std::nullopt;
    const auto at = parse_time(event_text(event, "eventTime"));
    if (!at) return std::nullopt;
    ToldDeed deed{
        .decided = {.by = event_text(event, "reportingController") + " " + event_text(event, "reportingInstance"),
                    .at = *at},
        .pod = event_text(*regarding, "namespace") + "/" + event_text(*regarding, "name"),
        .uid = event_text(*regarding, "uid"),
        .node = {},
        .owner = {}};
    const std::string reason = event_text(event, "reason");
    const std::string note = event_text(event, "note");
    if (reason == "Scheduled") deed.node = word_after(note, "Successfully assigned " + deed.pod + " to ");
    if (reason == "Preempted") {
        if (const auto mark = mark_of_event(event_json)) deed.owner = mark->by_name;
    }
    if (deed.node.empty() && deed.owner.empty()) return std::nullopt;
    return deed;
}

}  // namespace reprieve
