#include "expect.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace reprieve::scenario {
namespace {

constexpr std::array kEvictionKeys{
    "pod", "node", "unit", "group", "for", "action", "mode", "pdbViolation", "stage", "reason", "frees"};
constexpr std::array kPlacementKeys{"pod", "node", "nodeIn", "devices", "claims", "when", "for", "domain", "action"};
constexpr std::array kUnplacedKeys{"pod", "for", "replicas", "verdict", "reason", "nodes"};
constexpr std::array kCertificateKeys{"for", "action", "status", "cost", "bound", "runnerUp", "binding"};
constexpr std::array kGroupPlacementKeys{"count", "domain", "nodeIn", "when"};

template <std::size_t N>
void known_keys(const Json& object, const std::array<const char*, N>& known, const std::string& path, Faults& faults) {
    Keys keys(object, path, faults);
    for (const char* key : known)
        (void)keys.take(key);
    keys.finish();
}

// Names with their namespace, wherever an entry names a pod or a group.
void complete_names(Json& entry) {
    for (const char* key : {"pod", "for", "group"}) {
        if (entry.contains(key) && entry[key].is_string())
            entry[key] = full_name(entry[key].get_ref<const std::string&>());
    }
}

// A list of names or objects, as objects; a name may stand for several.
template <std::size_t N>
std::vector<Json> entries(const Json& list,
                          const std::array<const char*, N>& known,
                          const std::string& path,
                          Faults& faults) {
    std::vector<Json> out;
    if (!list.is_array()) {
        faults.push_back(fmt::format("{}: must be a list", path));
        return out;
    }
    for (const Json& item : list) {
        if (item.is_string()) {
            for (const std::string& name : names_in(item, path, faults))
                out.push_back({{"pod", name}});
            continue;
        }
        const std::string here = fmt::format("{}[{}]", path, out.size());
        known_keys(item, known, here, faults);
        if (!item.is_object()) continue;
        Json entry = item;
        complete_names(entry);
        out.push_back(std::move(entry));
    }
    return out;
}

std::optional<std::size_t> count_of(const Json& value) {
    if (!value.is_number_unsigned() && !(value.is_number_integer() && value.get<std::int64_t>() >= 0))
        return std::nullopt;
    return value.get<std::size_t>();
}

void read_evictions(Keys& keys, Decisions& out, Faults& faults) {
    if (const Json* evict = keys.take("evict")) {
        out.evict_count = count_of(*evict);
        if (!out.evict_count) out.evict = entries(*evict, kEvictionKeys, keys.at("evict"), faults);
    }
    if (const Json* from = keys.take("evictFrom")) {
        for (const auto& [group, number] : from->items()) {
            if (const auto count = count_of(number))
                out.evict_from[full_name(group)] = *count;
            else
                keys.fault("evictFrom", "must be numbers of pods");
        }
    }
}

// `pod: n1`, `pod: [n1, n2]`, `pod: any`, `pod: {node: n1, when: now}`.
Json placement(const std::string& pod, const Json& where, const std::string& path, Faults& faults) {
    Json entry = where.is_object() ? where : Json::object();
    if (where.is_string() && where != "any") entry["node"] = where;
    if (where.is_array()) entry["nodeIn"] = where;
    if (!where.is_object() && !where.is_array() && !where.is_string())
        faults.push_back(fmt::format("{}: must be a node", path));
    entry["pod"] = full_name(pod);
    known_keys(entry, kPlacementKeys, path, faults);
    complete_names(entry);
    return entry;
}

void read_placements(Keys& keys, Decisions& out, Faults& faults) {
    out.when = keys.text("when");
    if (!out.when.empty() && out.when != "now" && out.when != "afterEvictions")
        keys.fault("when", "is now or afterEvictions");
    if (const Json* of = keys.take("placeOf")) {
        for (const auto& [group, value] : of->items()) {
            Json wanted = value.is_object() ? value : Json{{"count", value}};
            known_keys(wanted, kGroupPlacementKeys, keys.at("placeOf"), faults);
            if (!wanted.contains("count") || !count_of(wanted["count"]))
                keys.fault("placeOf", "needs the number of pods");
            else
                out.place_of[full_name(group)] = std::move(wanted);
        }
    }
    const Json* place = keys.take("place");
    if (place == nullptr) return;
    out.place_count = count_of(*place);
    if (out.place_count) return;
    if (place->is_array()) {
        out.place = entries(*place, kPlacementKeys, keys.at("place"), faults);
        return;
    }
    if (!place->is_object()) {
        keys.fault("place", "must be nodes by pod, a list, or a number");
        return;
    }
    for (const auto& [pod, where] : place->items()) {
        if (pod == "...") {
            out.other_placements = true;
            continue;
        }
        for (const std::string& name : spelled_out(pod))
            out.place.push_back(placement(name, where, keys.at("place"), faults));
    }
}

Decisions read_decisions(const Json& value, const std::string& path, Faults& faults) {
    Keys keys(value, path, faults);
    Decisions out;
    read_evictions(keys, out, faults);
    read_placements(keys, out, faults);
    for (const char* name : kPartialArrays) {
        const Json* array = keys.take(name);
        if (array != nullptr && !array->is_array()) keys.fault(name, "must be a list");
        out.arrays[name] = array == nullptr ? Json::array() : *array;
    }
    keys.finish();
    return out;
}

void read_warnings(Keys& keys, CycleExpect& out) {
    const Json* warnings = keys.take("warnings");
    if (warnings == nullptr) return;
    if (*warnings == "any") {
        out.warnings.reset();
        return;
    }
    for (const Json& part : *warnings) {
        if (part.is_string())
            out.warnings->push_back(part.get<std::string>());
        else
            keys.fault("warnings", "must be parts of sentences");
    }
}

// Whether anything is demanded at all.
bool read_checks(Keys& keys, CycleExpect& out, Faults& faults) {
    if (const Json* plan = keys.take("plan")) out.plan = read_decisions(*plan, keys.at("plan"), faults);
    if (const Json* names = keys.take("untouched")) out.untouched = names_in(*names, keys.at("untouched"), faults);
    if (const Json* list = keys.take("unplaced"))
        out.unplaced = entries(*list, kUnplacedKeys, keys.at("unplaced"), faults);
    if (const Json* list = keys.take("certificates"))
        out.certificates = entries(*list, kCertificateKeys, keys.at("certificates"), faults);
    if (const Json* names = keys.take("nominationsCleared"))
        out.nominations_cleared = names_in(*names, keys.at("nominationsCleared"), faults);
    read_warnings(keys, out);
    if (const Json* queues = keys.take("queues")) out.queues = *queues;
    if (const Json* exit = keys.take("exit")) {
        if (exit->is_number_integer())
            out.exit = exit->get<int>();
        else
            keys.fault("exit", "must be a number");
    }
    out.error = keys.text("error");
    return out.plan || !out.untouched.empty() || out.unplaced || !out.certificates.empty() || !out.queues.empty() ||
           !out.error.empty();
}

std::vector<CycleExpect> read_cycles(const Json& list, Faults& faults) {
    std::vector<CycleExpect> out;
    if (!list.is_array()) faults.emplace_back("cycles: must be a list");
    for (const Json& item : list) {
        Keys keys(item, fmt::format("cycles[{}]", out.size()), faults);
        CycleExpect& cycle = out.emplace_back();
        if (const Json* events = keys.take("events")) cycle.events = *events;
        if (!cycle.events.is_array()) keys.fault("events", "must be a list");
        (void)read_checks(keys, cycle, faults);
        keys.finish();
    }
    return out;
}

}  // namespace

Expect read_expect(const Json& document, Faults& faults) {
    Keys keys(document, "", faults);
    (void)keys.take("apiVersion");
    (void)keys.take("kind");
    Expect out;
    out.now = keys.text("now", out.now);
    if (const Json* config = keys.take("config")) out.config = *config;
    if (!out.config.is_object()) keys.fault("config", "must be an object");
    if (const Json* only = keys.take("only")) {
        for (const Json& name : *only)
            out.only.push_back(name.get<std::string>());
    }
    out.golden = keys.flag("golden", false);
    if (const Json* settled = keys.take("settled")) out.settled = read_decisions(*settled, "settled", faults);
    CycleExpect single;
    const bool demands = read_checks(keys, single, faults);
    if (const Json* cycles = keys.take("cycles")) {
        out.cycles = read_cycles(*cycles, faults);
        if (demands) faults.emplace_back("cycles: what a cycle must show stands inside it");
    } else if (demands) {
        out.cycles.push_back(std::move(single));
    }
    keys.finish();
    if (out.cycles.empty() && !out.settled) faults.emplace_back("Expect: demands nothing");
    return out;
}

}  // namespace reprieve::scenario
