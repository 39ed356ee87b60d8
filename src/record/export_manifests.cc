#include <nlohmann/json.hpp>

#include "record/export.h"

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

// What the loop believed, as fields that a decoder reads the same way.
void believe_in(Json& pod, const Json& overlay) {
    Json& annotations = pod["metadata"]["annotations"];
    for (const auto& [key, value] : overlay.items()) {
        if (key == "node" && value != "") pod["spec"]["nodeName"] = value;
        if (key == "nominated") pod["status"]["nominatedNodeName"] = value;
        if (key == "plan" && value.is_null() && annotations.is_object()) annotations.erase("reprieve.dev/plan");
        if (key == "plan" && value.is_object()) {
            annotations["reprieve.dev/plan"] =
                Json{{"id", value.at("id")},
                     {"node", value.at("node")},
                     {"victims", value.at("victims")},
                     {"deadline", format_time({value.at("deadline").get<std::int64_t>()})}}
                    .dump();
        }
        if (key == "deleting") {
            const Time time{value.get<std::int64_t>()};
            if (time.is_set())
                pod["metadata"]["deletionTimestamp"] = format_time(time);
            else
                pod["metadata"].erase("deletionTimestamp");
        }
        if (key == "target" && value == true) {
            Json& conditions = pod["status"]["conditions"];
            if (!conditions.is_array()) conditions = Json::array();
            conditions.push_back(
                {{"type", "DisruptionTarget"}, {"status", "True"}, {"reason", "PreemptionByScheduler"}});
        }
        if (key == "soft" && value != "") annotations["scheduling.koordinator.sh/soft-eviction"] = value;
        if (key == "gated" && value == true) pod["spec"]["schedulingGates"] = {{{"name", "reprieve.dev/held"}}};
        if (key == "preemptible" && value == false) annotations["reprieve.dev/preemptible"] = "false";
    }
    if (annotations.is_null()) pod["metadata"].erase("annotations");
}

}  // namespace

Result<std::string> export_manifests(RecordReader& reader, const RecordedCycle& cycle) {
    const auto world = reader.world(cycle);
    if (!world) return std::unexpected(world.error());
    std::string out = "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[";
    bool first = true;
    for (const auto& [key, object] : *world) {
        out += first ? "\n" : ",\n";
        first = false;
        if (object.overlay.empty()) {
            out += object.json;
            continue;
        }
        try {
            Json pod = Json::parse(object.json);
            believe_in(pod, Json::parse(object.overlay));
            out += pod.dump();
        } catch (const Json::exception& error) {
            return fail(key + ": " + error.what());
        }
    }
    return out + "\n]}\n";
}

}  // namespace reprieve
