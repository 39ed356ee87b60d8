#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "record/export.h"

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

// "networkpolicies" of "NetworkPolicy": how the API server names collections of the kinds that we keep.
std::string plural_of(std::string kind) {
    std::ranges::transform(kind, kind.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (kind.ends_with("class") || kind.ends_with("ss")) return kind + "es";
    if (kind.ends_with("y")) return kind.substr(0, kind.size() - 1) + "ies";
    return kind + "s";
}

// As it was before any scheduler had looked at it.
Json unscheduled(Json object) {
    object["metadata"].erase("uid");
    object["metadata"].erase("resourceVersion");
    object["metadata"].erase("creationTimestamp");
    if (object.value("kind", "") != "Pod") return object;
    object["metadata"].erase("deletionTimestamp");
    object["metadata"].erase("deletionGracePeriodSeconds");
    object.erase("status");
    object["spec"].erase("nodeName");
    if (Json& notes = object["metadata"]["annotations"]; notes.is_object()) {
        for (const char* ours : {"reprieve.dev/plan", "reprieve.dev/devices", "reprieve.dev/claimed-by"})
            notes.erase(ours);
    }
    if (object["metadata"]["annotations"].empty()) object["metadata"].erase("annotations");
    return object;
}

class KwokRecording {
public:
    KwokRecording(Time from, Time to, std::set<std::string> victims)
        : from_(from),
          to_(to),
          victims_(std::move(victims)) {}

    Result<void> keyframe(const RecordedWorld& world, bool fresh) {
        if (!fresh && started_) return {};
        if (started_) return fail("the record has a gap: export what is before or after it with --from and --to");
        for (const auto& [key, object] : world)
            world_[key] = object.json;
        return {};
    }

    Result<void> change(const RecordedChange& change) {
        if (change.believed || (to_.is_set() && change.at > to_)) return {};
        const std::string key(change.key);
        if (change.at < from_) {
            if (change.json.empty())
                world_.erase(key);
            else
                world_[key] = change.json;
            return {};
        }
        begin();
        const auto known = world_.find(key);
        if (change.json.empty()) {
            if (known == world_.end()) return {};
            // An eviction is a decision, and what its owner makes again would come twice.
            if (!victims_.contains(key)) step(change.at, Json::parse(known->second), "delete", {});
            world_.erase(known);
            return {};
        }
        const Json after = unscheduled(Json::parse(change.json));
        if (known == world_.end()) {
            step(change.at, after, "create", after);
        } else {
            const Json before = unscheduled(Json::parse(known->second));
            const Json patch = difference(before, after);
            if (!patch.empty()) step(change.at, after, "patch", patch);
        }
        world_[key] = change.json;
        return {};
    }

    std::string text() {
        begin();
        return std::move(out_);
    }

private:
    // Top-level parts that changed, whole: applied as a merge they give the new object.
    static Json difference(const Json& before, const Json& after) {
        Json out = Json::object();
        for (const char* part : {"spec", "status"}) {
            if (after.contains(part) && after[part] != before.value(part, Json())) out[part] = after[part];
        }
        for (const char* part : {"labels", "annotations"}) {
            const Json is = after["metadata"].value(part, Json::object());
            if (is != before["metadata"].value(part, Json::object())) out["metadata"][part] = is;
        }
        return out;
    }

    void begin() {
        if (std::exchange(started_, true)) return;
        for (const auto& [key, json] : world_) {
            const Json object = unscheduled(Json::parse(json));
            document(object);
        }
    }

    // JSON is YAML.
    void document(const Json& object) { out_ += object.dump() + "\n---\n"; }

    void step(Time at, const Json& object, const char* method, const Json& body) {
        const std::string version = object.value("apiVersion", "v1");
        const std::size_t slash = version.find('/');
        Json resource = Json::object();
        if (slash != std::string::npos) resource["group"] = version.substr(0, slash);
        resource["version"] = slash == std::string::npos ? version : version.substr(slash + 1);
        resource["resource"] = plural_of(object.value("kind", ""));
        Json target = {{"name", object["metadata"].value("name", "")}};
        if (const std::string ns = object["metadata"].value("namespace", ""); !ns.empty()) target["namespace"] = ns;
        Json out = {
            {"apiVersion", "action.kwok.x-k8s.io/v1alpha1"},
            {"kind", "ResourcePatch"},
            {"resource", resource},
            {"target", target},
            {"durationNanosecond", std::max<std::int64_t>((at - (from_.is_set() ? from_ : first_)).us, 0) * 1000},
            {"method", method}};
        if (!first_.is_set()) first_ = at;
        if (!body.is_null()) out["template"] = body;
        document(out);
    }

    Time from_;
    Time to_;
    Time first_;
    std::set<std::string> victims_;
    std::map<std::string, std::string> world_;
    bool started_ = false;
    std::string out_;
};

}  // namespace

Result<std::string> export_kwok(RecordReader& reader, Time from, Time to) {
    std::set<std::string> victims;
    for (const RecordedDecision& decision : reader.decisions({.name = {}, .action = {}, .since = from, .until = to})) {
        for (const std::string& victim : decision.victims)
            victims.insert("Pod " + victim);
    }
    const Time start = from.is_set() ? from : reader.from();
    KwokRecording recording(start, to, std::move(victims));
    RecordVisitor visitor;
    visitor.keyframe = [&](const RecordedWorld& world, Time, bool fresh) { return recording.keyframe(world, fresh); };
    visitor.change = [&](const RecordedChange& change) { return recording.change(change); };
    visitor.cycle = [&](const RecordedCycle& cycle) -> Result<bool> { return !to.is_set() || cycle.at <= to; };
    try {
        if (auto walked = reader.walk(start, visitor); !walked) return std::unexpected(walked.error());
        return recording.text();
    } catch (const Json::exception& error) {
        return fail(fmt::format("an object of the record is not JSON: {}", error.what()));
    }
}

}  // namespace reprieve
