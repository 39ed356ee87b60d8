#include "sim/timeline.h"

#include <fmt/format.h>

namespace reprieve {
namespace {

Result<std::vector<Json>> read_manifests(const Json& event, const char* field) {
    const Json* given = find_path(event, {field});
    std::vector<Json> out;
    if (given == nullptr) return out;
    if (given->is_array())
        out.assign(given->begin(), given->end());
    else
        out.push_back(*given);
    for (const Json& manifest : out) {
        if (text_at(manifest, {"apiVersion"}).empty()) return fail(fmt::format("{}.apiVersion: is missing", field));
        if (text_at(manifest, {"kind"}).empty()) return fail(fmt::format("{}.kind: is missing", field));
        if (text_at(manifest, {"metadata", "name"}).empty())
            return fail(fmt::format("{}.metadata.name: is missing", field));
    }
    return out;
}

Result<TimelineEvent> read_event(const Json& event) {
    if (!event.is_object()) return fail("must be an object");
    for (const auto& [key, value] : event.items()) {
        if (key != "at" && key != "apply" && key != "delete")
            return fail(fmt::format("{}: is not one of: at, apply, delete", key));
    }
    const Json* at = find_path(event, {"at"});
    if (at == nullptr) return fail("at: is missing");
    const Result<Duration> time = parse_duration(at->is_string() ? at->get<std::string>() : at->dump());
    if (!time) return fail(fmt::format("at: {}", time.error().message));
    if (time->us < 0) return fail("at: must not be negative");
    auto apply = read_manifests(event, "apply");
    if (!apply) return std::unexpected(apply.error());
    auto erase = read_manifests(event, "delete");
    if (!erase) return std::unexpected(erase.error());
    if (apply->empty() && erase->empty()) return fail("has neither apply nor delete");
    return TimelineEvent{.at = *time, .apply = std::move(*apply), .erase = std::move(*erase), .source = {}, .index = 0};
}

}  // namespace

std::string TimelineEvent::where(std::string_view field) const {
    return fmt::format("{}{}Timeline: events[{}].{}", source, source.empty() ? "" : ": ", index, field);
}

Result<std::vector<TimelineEvent>> read_timeline(std::string_view json) {
    const Json body = Json::parse(json, nullptr, false);
    for (const auto& [key, value] : body.items()) {
        if (key != "apiVersion" && key != "kind" && key != "metadata" && key != "events")
            return fail(fmt::format("{}: is not one of: apiVersion, kind, metadata, events", key));
    }
    const Json* events = find_path(body, {"events"});
    if (events == nullptr || !events->is_array()) return fail("events: must be a list");
    std::vector<TimelineEvent> out;
    for (std::size_t i = 0; i < events->size(); ++i) {
        auto event = read_event((*events)[i]);
        if (!event) return fail(fmt::format("events[{}]: {}", i, event.error().message));
        event->index = i;
        out.push_back(std::move(*event));
    }
    return out;
}

}  // namespace reprieve
