#include "manifest/plan_json.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "manifest/json_fields.h"
#include "manifest/plan_yaml.h"

namespace reprieve {
namespace {

using Json = OrderedJson;

std::string cleaned(const std::string& text) { return valid_utf8(text); }
std::int64_t cleaned(std::int64_t number) { return number; }

// Keys are sorted as they are written, so that a plan read back is written the same way.
template <class Value>
std::map<std::string, Value> cleaned(const std::map<std::string, Value>& entries) {
    std::map<std::string, Value> clean;
    for (const auto& [key, value] : entries)
        clean.emplace(valid_utf8(key), cleaned(value));
    return clean;
}

template <class Value>
Json object_of(const std::map<std::string, Value>& entries) {
    Json object = Json::object();
    for (const auto& [key, value] : cleaned(entries))
        object[key] = value;
    return object;
}

Json json_of(const PlacedClaim& claim) {
    Json object = Json::object();
    put(object, "claim", claim.claim);
    Json results = Json::array();
    for (const ClaimedDevice& device : claim.results) {
        Json entry = Json::object();
        put(entry, "request", device.request);
        put(entry, "driver", device.driver);
        put(entry, "pool", device.pool);
        put(entry, "device", device.device);
        if (device.admin) entry["adminAccess"] = true;
        if (!device.share.empty()) entry["share"] = object_of(device.share);
        results.push_back(std::move(entry));
    }
    object["results"] = std::move(results);
    return object;
}

Json json_of(const Placement& placement) {
    Json object = Json::object();
    put(object, "pod", placement.pod);
    put(object, "node", placement.node);
    put(object, "devices", placement.devices);
    if (!placement.claims.empty()) {
        Json claims = Json::array();
        for (const PlacedClaim& claim : placement.claims)
            claims.push_back(json_of(claim));
        object["claims"] = std::move(claims);
    }
    object["when"] = placement.after_evictions ? "afterEvictions" : "now";
    put(object, "for", placement.owner);
    put(object, "domain", placement.domain);
    put(object, "action", placement.action);
    return object;
}

Json json_of(const Eviction& eviction) {
    Json object = Json::object();
    put(object, "pod", eviction.pod);
    put(object, "node", eviction.node);
    object["unit"] = to_text(eviction.unit);
    put(object, "group", eviction.group);
    put(object, "for", eviction.owner);
    put(object, "action", eviction.action);
    object["mode"] = to_text(eviction.mode);
    object["pdbViolation"] = eviction.pdb_violation;
    put(object, "frees", eviction.frees);
    put(object, "stage", eviction.stage);
    put(object, "reason", eviction.reason);
    return object;
}

Json json_of(const ScaleChange& change) {
    Json object = Json::object();
    put(object, "deployment", change.deployment);
    put(object, "plane", change.plane);
    object["from"] = change.from;
    object["to"] = change.to;
    put(object, "hints", change.hints);
    return object;
}

Json json_of(const AnnotationChange& change) {
    Json object = Json::object();
    put(object, "pod", change.pod);
    if (!change.set.empty()) object["set"] = object_of(change.set);
    put(object, "remove", change.remove);
    return object;
}

Json json_of(const Match& match) {
    Json object = Json::object();
    put(object, "for", match.owner);
    put(object, "node", match.node);
    Json victims = Json::array();
    for (const MatchVictim& victim : match.victims) {
        Json entry = Json::object();
        put(entry, "pod", victim.pod);
        put(entry, "as", victim.as);
        victims.push_back(std::move(entry));
    }
    object["victims"] = std::move(victims);
    object["usesFree"] = match.uses_free;
    return object;
}

Json json_of(const QueueReport& queue) {
    static constexpr std::array<std::string_view, 6> kFirst{
        "deserved", "allocated", "used", "usedLive", "preempting", "runtime"};
    Json object = Json::object();
    put(object, "name", queue.name);
    for (const std::string_view share : kFirst) {
        const auto found = queue.shares.find(std::string(share));
        if (found != queue.shares.end()) object[found->first] = object_of(found->second);
    }
    for (const auto& [share, amounts] : cleaned(queue.shares)) {
        if (std::find(kFirst.begin(), kFirst.end(), share) == kFirst.end()) object[share] = object_of(amounts);
    }
    return object;
}

Json json_of(const Unplaced& item) {
    Json object = Json::object();
    put(object, "pod", item.pod);
    put(object, "for", item.owner);
    if (item.replicas != 0) object["replicas"] = item.replicas;
    object["verdict"] = item.never ? "never" : "notNow";
    put(object, "reason", item.reason);
    if (!item.nodes.empty()) object["nodes"] = object_of(item.nodes);
    return object;
}

Json json_of(const Certificate& certificate) {
    Json object = Json::object();
    put(object, "for", certificate.owner);
    put(object, "action", certificate.action);
    object["status"] = to_text(certificate.status);
    put(object, "cost", certificate.cost);
    put(object, "bound", certificate.bound);
    put(object, "runnerUp", certificate.runner_up);
    put(object, "binding", certificate.binding);
    return object;
}

Json json_of(const std::string& text) { return valid_utf8(text); }

// The whole plan as one document.
class Document {
public:
    void value(const char* key, Json value) { object_[key] = std::move(value); }

    template <class T>
    void list(const char* key, const std::vector<T>& items) {
        Json list = Json::array();
        for (const T& item : items)
            list.push_back(json_of(item));
        object_[key] = std::move(list);
    }

    Json take() { return std::move(object_); }

private:
    Json object_ = Json::object();
};

// The plan as text. Each entry of a list is a document of its own, since one of all of them would be many times as
// large as its text. The text is what `Document` would print.
class Text {
public:
    explicit Text(bool in_lines) : in_lines_(in_lines) { text_ += '{'; }

    void value(const char* key, const Json& value) {
        begin(key);
        add(value, 1);
    }

    template <class T>
    void list(const char* key, const std::vector<T>& items) {
        begin(key);
        add_list(items, 1);
    }

    template <class T>
    void add_list(const std::vector<T>& items, std::size_t depth) {
        text_ += '[';
        for (const T& item : items) {
            if (&item != &items.front()) text_ += ',';
            new_line(depth + 1);
            add(json_of(item), depth + 1);
        }
        if (!items.empty()) new_line(depth);
        text_ += ']';
    }

    std::string take() {
        new_line(0);
        text_ += '}';
        return take_list();
    }

    std::string take_list() {
        text_ += '\n';
        return std::move(text_);
    }

    static Text of_list(bool in_lines) {
        Text text(in_lines);
        text.text_.clear();
        return text;
    }

private:
    void begin(const char* key) {
        if (text_.size() > 1) text_ += ',';
        new_line(1);
        text_ += '"';
        text_ += key;
        text_ += in_lines_ ? "\": " : "\":";
    }

    void new_line(std::size_t depth) {
        if (in_lines_) text_.append(1, '\n').append(depth * kIndent, ' ');
    }

    // No text in a JSON document holds a line feed as such: each begins a line of the document.
    void add(const Json& value, std::size_t depth) {
        const std::string lines = value.dump(in_lines_ ? kIndent : -1);
        for (std::string_view rest = lines; !rest.empty();) {
            const std::size_t end = rest.find('\n');
            text_ += rest.substr(0, end);
            if (end == std::string_view::npos) break;
            new_line(depth);
            rest.remove_prefix(end + 1);
        }
    }

    static constexpr int kIndent = 2;

    std::string text_;
    bool in_lines_;
};

template <class Out>
void write(const Plan& plan, Out& out) {
    out.value("apiVersion", "reprieve.dev/v1");
    out.value("kind", "Plan");
    if (!plan.id.empty()) out.value("id", json_of(plan.id));
    if (plan.now.is_set()) out.value("now", format_time(plan.now));
    out.list("placements", plan.placements);
    out.list("evictions", plan.evictions);
    out.list("nominationsCleared", plan.nominations_cleared);
    out.list("scale", plan.scale);
    out.list("forceDeletes", plan.force_deletes);
    out.list("annotations", plan.annotations);
    out.list("matches", plan.matches);
    out.list("queues", plan.queues);
    out.list("unplaced", plan.unplaced);
    out.list("certificates", plan.certificates);
    out.list("warnings", plan.warnings);
}

std::string text_of(const Plan& plan, bool in_lines) {
    Text text(in_lines);
    write(plan, text);
    return text.take();
}

}  // namespace

std::string plan_to_json(const Plan& plan) { return text_of(plan, true); }

std::string queues_to_json(const Plan& plan) {
    Text text = Text::of_list(true);
    text.add_list(plan.queues, 0);
    return text.take_list();
}

std::string plan_to_json_line(const Plan& plan) { return text_of(plan, false); }

std::string plan_to_yaml(const Plan& plan) {
    Document document;
    write(plan, document);
    return yaml_of(document.take());
}

}  // namespace reprieve
