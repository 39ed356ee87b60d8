#include "record/overlay.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

Json json_of_note(const std::optional<PlanNote>& note, const Vocabulary& words) {
    if (!note) return nullptr;
    return {{"id", note->id},
            {"node", words.str(note->node)},
            {"victims", note->victim_uids},
            {"devices", note->devices},
            {"deadline", note->deadline.us}};
}

Json json_of_devices(const std::vector<DeviceHold>& devices) {
    Json out = Json::array();
    for (const DeviceHold& hold : devices)
        out.push_back({hold.index, hold.memory, hold.milli});
    return out;
}

StringId word_of(const Json& text, Vocabulary& words) {
    const auto& string = text.get_ref<const std::string&>();
    return string.empty() ? StringId() : words.string(string);
}

void take_note(const Json& json, Pod& pod, Vocabulary& words) {
    PodExtras& extras = pod.make_extras();
    extras.plan.reset();
    if (json.is_null()) return;
    extras.plan = PlanNote{.id = json.at("id"),
                           .node = word_of(json.at("node"), words),
                           .victim_uids = json.at("victims").get<std::vector<std::string>>(),
                           .devices = json.value("devices", std::vector<std::string>()),
                           .deadline = {json.at("deadline").get<std::int64_t>()}};
}

void take_field(const std::string& key, const Json& value, Pod& pod, Vocabulary& words) {
    if (key == "node") pod.node = word_of(value, words);
    if (key == "nominated") pod.nominated = word_of(value, words);
    if (key == "plan") take_note(value, pod, words);
    if (key == "devices") {
        auto& devices = pod.make_extras().held_devices;
        devices.clear();
        for (const Json& hold : value)
            devices.push_back({.index = hold.at(0), .memory = hold.at(1), .milli = hold.at(2)});
    }
    if (key == "deleting") pod.deleting = {value.get<std::int64_t>()};
    if (key == "target") pod.disruption_target = value;
    if (key == "soft") pod.make_extras().soft_eviction = value;
    if (key == "gated") pod.gated = value;
    if (key == "preemptible") {
        auto& preemptible = pod.make_extras().preemptible;
        preemptible.reset();
        if (!value.is_null()) preemptible = value.get<bool>();
    }
    if (key == "marker") pod.make_extras().preemptible_marker = value;
    if (key == "hold") pod.make_extras().hold = value;
}

}  // namespace

std::string overlay_of(const Pod& told, const Pod& believed, const Vocabulary& words) {
    Json out = Json::object();
    const PodExtras& was = told.more();
    const PodExtras& is = believed.more();
    if (told.node != believed.node) out["node"] = believed.node ? words.str(believed.node) : "";
    if (told.nominated != believed.nominated)
        out["nominated"] = believed.nominated ? words.str(believed.nominated) : "";
    if (was.plan != is.plan) out["plan"] = json_of_note(is.plan, words);
    if (was.held_devices != is.held_devices) out["devices"] = json_of_devices(is.held_devices);
    if (told.deleting != believed.deleting) out["deleting"] = believed.deleting.us;
    if (told.disruption_target != believed.disruption_target) out["target"] = believed.disruption_target;
    if (was.soft_eviction != is.soft_eviction) out["soft"] = is.soft_eviction;
    if (told.gated != believed.gated) out["gated"] = believed.gated;
    if (was.preemptible != is.preemptible) out["preemptible"] = is.preemptible ? Json(*is.preemptible) : Json();
    if (was.preemptible_marker != is.preemptible_marker) out["marker"] = is.preemptible_marker;
    if (was.hold != is.hold) out["hold"] = is.hold;
    return out.empty() ? std::string() : out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<void> lay_over(Pod& pod, std::string_view overlay, Vocabulary& words) {
    if (overlay.empty()) return {};
    try {
        const Json fields = Json::parse(overlay);
        for (const auto& [key, value] : fields.items())
            take_field(key, value, pod, words);
    } catch (const Json::exception& error) {
        return fail(fmt::format("what was believed of pod {} cannot be read: {}", pod.name, error.what()));
    }
    return {};
}

}  // namespace reprieve
