#include "record/history.h"

#include <nlohmann/json.hpp>

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

// What was stored as JSON; a damaged one is told as text rather than left out.
Json parsed(const std::string& text) {
    Json json = Json::parse(text, nullptr, false);
    return json.is_discarded() ? Json(text) : json;
}

Json list_of_parsed(const std::vector<std::string>& texts) {
    Json out = Json::array();
    for (const std::string& text : texts)
        out.push_back(parsed(text));
    return out;
}

Json time_or_null(Time time) { return time.is_set() ? Json(format_time(time)) : Json(); }

}  // namespace

std::string history_to_json(const std::vector<RecordedDecision>& decisions,
                            const std::vector<RecordedWait>* waits,
                            const std::vector<RecordGap>& gaps) {
    Json out = Json::object();
    out["decisions"] = Json::array();
    for (const RecordedDecision& one : decisions) {
        Json entry = Json::object();
        entry["at"] = format_time(one.at);
        entry["cycle"] = one.cycle;
        entry["for"] = one.owner;
        entry["action"] = one.action;
        if (!one.queue.empty()) entry["queue"] = one.queue;
        if (one.priority) entry["priority"] = *one.priority;
        entry["evictions"] = list_of_parsed(one.evictions);
        entry["placements"] = list_of_parsed(one.placements);
        entry["certificate"] = one.certificate.empty() ? Json() : parsed(one.certificate);
        entry["outcome"] = one.outcome;
        entry["started"] = time_or_null(one.started);
        if (!one.lost.empty()) entry["lost"] = parsed(one.lost);
        out["decisions"].push_back(std::move(entry));
    }
    if (waits) {
        out["waits"] = Json::array();
        for (const RecordedWait& one : *waits) {
            out["waits"].push_back({{"pod", one.pod},
                                    {"since", format_time(one.since)},
                                    {"until", time_or_null(one.until)},
                                    {"verdict", one.never ? "never" : "notNow"},
                                    {"reason", one.reason}});
        }
    }
    if (!gaps.empty()) {
        out["gaps"] = Json::array();
        for (const RecordGap& gap : gaps)
            out["gaps"].push_back({{"from", format_time(gap.from)}, {"to", format_time(gap.to)}, {"why", gap.why}});
    }
    return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace reprieve
