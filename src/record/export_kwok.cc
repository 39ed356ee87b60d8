#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <deque>
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

constexpr const char* kReplaced = "$patch";  // "replace": what is not named any more goes

// The controller of a pod; empty: it has none.
std::string controller_of(const Json& pod) {
    for (const Json& owner : pod["metadata"].value("ownerReferences", Json::array())) {
        if (owner.value("controller", false)) return owner.value("uid", "");
    }
    return {};
}

// Controllers are known by name and number only, and their pods are in the recording: brought back to life they would
// make others.
bool makes_pods(std::string_view key) {
    return key.starts_with("Deployment.") || key.starts_with("ReplicaSet.") || key.starts_with("Job.") ||
           key.starts_with("Revision.");
}

bool is_leaving(const Json& object) { return object["metadata"].contains("deletionTimestamp"); }

class KwokRecording {
public:
    KwokRecording(Time from, Time to, std::map<std::string, int> victims)
        : from_(from),
          to_(to),
          evictions_(std::move(victims)) {}

    Result<void> keyframe(const RecordedWorld& world, bool fresh) {
        if (!fresh && started_) return {};
        if (started_) return fail("the record has a gap: export what is before or after it with --from and --to");
        for (const auto& [key, object] : world) {
            if (!makes_pods(key)) world_[key] = object.json;
        }
        return {};
    }

    Result<void> change(const RecordedChange& change) {
        if (change.believed || makes_pods(change.key) || (to_.is_set() && change.at > to_)) return {};
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
            if (known != world_.end()) remove(change.at, key, Json::parse(known->second));
            return {};
        }
        const Json object = Json::parse(change.json);
        if (is_leaving(object)) note_eviction(key, object);
        if (known == world_.end()) {
            if (!stands_in(key, object)) create(change.at, unscheduled(object, change.at));
        } else if (!stands_for_.contains(key)) {
            patch(change.at, unscheduled(Json::parse(known->second), change.at), unscheduled(object, change.at));
        }
        world_[key] = change.json;
        return {};
    }

    std::string text() {
        begin();
        return std::move(out_);
    }

private:
    // An eviction is a decision: in the replay the pod stays, and what its controller makes in its place does not come.
    void note_eviction(const std::string& key, const Json& pod) {
        const auto found = evictions_.find(key);
        if (found == evictions_.end() || found->second == 0 || !evicted_.insert(key).second) return;
        --found->second;
        const auto stands = stands_for_.find(key);
        if (const std::string controller = controller_of(pod); !controller.empty())
            replaced_[controller].push_back(stands == stands_for_.end() ? key : stands->second);
    }

    bool stands_in(const std::string& key, const Json& object) {
        const auto found = replaced_.find(controller_of(object));
        if (found == replaced_.end() || found->second.empty()) return false;
        stands_for_[key] = found->second.front();
        found->second.pop_front();
        return true;
    }

    void remove(Time at, const std::string& key, const Json& object) {
        note_eviction(key, object);
        const auto stands = stands_for_.find(key);
        if (!evicted_.contains(key)) {
            Json gone = object;
            if (stands != stands_for_.end())
                gone["metadata"]["name"] = stands->second.substr(stands->second.find('/') + 1);
            step(at, gone, "delete", {});
        }
        if (stands != stands_for_.end()) stands_for_.erase(stands);
        evicted_.erase(key);
        world_.erase(key);
    }

    void create(Time at, const Json& object) { step(at, object, "create", object); }

    void patch(Time at, const Json& before, const Json& after) {
        if (const Json changed = difference(before, after); !changed.empty()) step(at, after, "patch", changed);
    }

    // As it was before any scheduler had looked at it. KWOK writes recordings past the API server, into etcd: what the
    // API server gives to every object has to be there.
    [[nodiscard]] Json unscheduled(Json object, Time at) const {
        Json& metadata = object["metadata"];
        metadata.erase("resourceVersion");
        const std::string made = metadata.value("creationTimestamp", "");
        const auto created = made.empty() ? Result<Time>(at) : parse_time(made);
        metadata["creationTimestamp"] = relative(created ? *created : at);
        if (object.value("kind", "") != "Pod") return object;
        // Pods are made by the recording, and their owners are not in it: nobody may miss them.
        for (const char* field : {"deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences"})
            metadata.erase(field);
        if (metadata.contains("annotations")) {
            for (const char* ours : {"reprieve.dev/plan", "reprieve.dev/devices", "reprieve.dev/claimed-by"})
                metadata["annotations"].erase(ours);
            if (metadata["annotations"].empty()) metadata.erase("annotations");
        }
        object["spec"].erase("nodeName");
        for (const char* list : {"containers", "initContainers"}) {
            if (!object["spec"].contains(list)) continue;
            for (Json& container : object["spec"][list])
                container.emplace("image", "recorded");  // which one it was is not kept, and there must be one
        }
        object["status"] = {{"phase", "Pending"}};
        return object;
    }

    // A time as KWOK writes it: in a replay it is as long after the start as it was here.
    [[nodiscard]] std::string relative(Time at) const {
        return fmt::format("$(time-offset-nanosecond {})", (at - from_).us * 1000);
    }

    // Parts that changed, whole, in place of what they were.
    static Json difference(const Json& before, const Json& after) {
        Json out = Json::object();
        for (const char* part : {"spec", "status"}) {
            if (!after.contains(part) || after[part] == before.value(part, Json())) continue;
            out[part] = after[part];
            out[part][kReplaced] = "replace";
        }
        for (const char* part : {"labels", "annotations"}) {
            const Json is = after["metadata"].value(part, Json::object());
            if (is == before["metadata"].value(part, Json::object())) continue;
            out["metadata"][part] = is;
            out["metadata"][part][kReplaced] = "replace";
        }
        return out;
    }

    void begin() {
        if (std::exchange(started_, true)) return;
        for (const auto& [key, json] : world_) {
            document(unscheduled(Json::parse(json), from_));
        }
    }

    // JSON is YAML.
    void document(const Json& object) { out_ += object.dump() + "\n---\n"; }

    void step(Time at, const Json& object, const char* method, const Json& body) {
        // KWOK sorts by time: of two changes in the same moment the later one is later.
        last_ns_ = std::max((at - from_).us * 1000, last_ns_ + 1);
        const std::string version = object.value("apiVersion", "v1");
        const std::size_t slash = version.find('/');
        Json resource = Json::object();
        if (slash != std::string::npos) resource["group"] = version.substr(0, slash);
        resource["version"] = slash == std::string::npos ? version : version.substr(slash + 1);
        resource["resource"] = plural_of(object.value("kind", ""));
        Json target = {{"name", object["metadata"].value("name", "")}};
        if (const std::string ns = object["metadata"].value("namespace", ""); !ns.empty()) target["namespace"] = ns;
        Json out = {{"apiVersion", "action.kwok.x-k8s.io/v1alpha1"},
                    {"kind", "ResourcePatch"},
                    {"resource", resource},
                    {"target", target},
                    {"durationNanosecond", last_ns_},
                    {"method", method}};
        if (!body.is_null()) out["template"] = body;
        document(out);
    }

    Time from_;
    Time to_;
    std::int64_t last_ns_ = -1;
    std::map<std::string, int> evictions_;                     // of each pod, that have not been seen yet
    std::set<std::string> evicted_;                            // that leave because of a decision
    std::map<std::string, std::deque<std::string>> replaced_;  // by controller: evicted pods without a stand-in yet
    std::map<std::string, std::string> stands_for_;  // pods that are not replayed: the evicted one that stayed instead
    std::map<std::string, std::string> world_;
    bool started_ = false;
    std::string out_;
};

}  // namespace

Result<std::string> export_kwok(RecordReader& reader, Time from, Time to) {
    std::map<std::string, int> victims;
    for (const RecordedDecision& decision : reader.decisions({.name = {}, .action = {}, .since = from, .until = to})) {
        for (const std::string& victim : decision.victims)
            ++victims["Pod " + victim];
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
