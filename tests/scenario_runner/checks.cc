#include "checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace reprieve::scenario {
namespace {

using Complaints = std::vector<std::string>;

const Json* find_entry(const Json& array, const char* key, const std::string& name) {
    const auto it = std::ranges::find_if(array, [&](const Json& entry) { return entry.value(key, "") == name; });
    return it == array.end() ? nullptr : &*it;
}

std::set<std::string> pods_of(const Json& array) {
    std::set<std::string> out;
    for (const Json& entry : array)
        out.insert(entry.value("pod", entry.value("for", "")));
    return out;
}

std::set<std::string> pods_of(const std::vector<Json>& entries) { return pods_of(Json(entries)); }

std::string listed(const std::set<std::string>& names) {
    return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

bool contains_text(const Json& text, const Json& part) {
    return text.is_string() && part.is_string() &&
           text.get<std::string>().find(part.get<std::string>()) != std::string::npos;
}

// Devices by index, in whatever order and however they were typed; how much of a device is held counts where it is
// written.
bool devices_match(const Json& wanted, const Json& got) {
    const auto text = [](const Json& device) { return device.is_string() ? device.get<std::string>() : device.dump(); };
    const auto holds = [&](const Json& device) {
        return std::ranges::any_of(got, [&](const Json& held) {
            return text(held) == text(device) || text(held).starts_with(text(device) + ":");
        });
    };
    return wanted.is_array() && wanted.size() == got.size() && std::ranges::all_of(wanted, holds);
}

// {claim: [device, ...]}: these claims and no others, each with these devices in whatever order.
bool claims_match(const Json& wanted, const Json& got) {
    if (!wanted.is_object() || wanted.size() != got.size()) return false;
    std::map<std::string, std::multiset<std::string>> expected;
    for (const auto& [claim, devices] : wanted.items()) {
        for (const Json& device : devices)
            expected[full_name(claim)].insert(device.get<std::string>());
    }
    std::map<std::string, std::multiset<std::string>> given;
    for (const Json& claim : got) {
        for (const Json& result : claim["results"])
            given[claim.value("claim", "")].insert(result.value("device", ""));
    }
    return expected == given;
}

bool field_matches(const std::string& key, const Json& wanted, const Json& entry) {
    if (key == "nodeIn") return std::ranges::find(wanted, entry.value("node", Json())) != wanted.end();
    if (key == "claims") return claims_match(wanted, entry.value("claims", Json::array()));
    if (key == "devices") return devices_match(wanted, entry.value("devices", Json::array()));
    const Json got = entry.value(key, Json());
    if (key == "reason" || key == "binding") return contains_text(got, wanted);
    return matches_part(wanted, got);
}

void check_fields(const std::string& what, const Json& wanted, const Json& got, Complaints& out) {
    for (const auto& [key, value] : wanted.items()) {
        if (!field_matches(key, value, got))
            out.push_back(fmt::format("{}: expected {} {}, got {}", what, key, value.dump(), got.dump()));
    }
}

// Entries by pod: those expected and nothing else.
void check_exact(const std::string& what, const std::vector<Json>& wanted, const Json& got, Complaints& out) {
    if (const auto expected = pods_of(wanted), actual = pods_of(got); expected != actual) {
        out.push_back(fmt::format("{}: expected {}, got {}", what, listed(expected), listed(actual)));
    }
    for (const Json& entry : wanted) {
        const std::string name = entry.value("pod", entry.value("for", ""));
        const Json* found = find_entry(got, entry.contains("pod") ? "pod" : "for", name);
        if (found != nullptr) check_fields(fmt::format("{} {}", what, name), entry, *found, out);
    }
}

// Takes those that a predicate holds for out of an array.
template <class Predicate>
Json taken(Json& array, Predicate predicate) {
    Json out = Json::array();
    Json rest = Json::array();
    for (const Json& entry : array)
        (predicate(entry) ? out : rest).push_back(entry);
    array = std::move(rest);
    return out;
}

void check_evictions(const Decisions& expect, Json evictions, Complaints& out) {
    if (expect.evict_count) {
        if (evictions.size() != *expect.evict_count)
            out.push_back(
                fmt::format("evict: expected {} pods, got {}", *expect.evict_count, listed(pods_of(evictions))));
        return;
    }
    for (const auto& [group, count] : expect.evict_from) {
        const Json members = taken(evictions, [&](const Json& e) { return e.value("group", "") == group; });
        if (members.size() != count)
            out.push_back(fmt::format("evictFrom {}: expected {}, got {}", group, count, listed(pods_of(members))));
    }
    check_exact("evict", expect.evict, evictions, out);
}

void check_group(const std::string& group, const Json& wanted, const Json& members, Complaints& out) {
    if (members.size() != wanted["count"].get<std::size_t>()) {
        out.push_back(
            fmt::format("placeOf {}: expected {}, got {}", group, wanted["count"].dump(), listed(pods_of(members))));
    }
    Json fields = wanted;
    fields.erase("count");
    for (const Json& member : members)
        check_fields(fmt::format("placeOf {}: {}", group, member.value("pod", "")), fields, member, out);
}

void check_placements(const Decisions& expect, Json placements, Complaints& out) {
    if (!expect.when.empty()) {
        for (const Json& p : placements) {
            if (p.value("when", "") != expect.when)
                out.push_back(fmt::format("place {}: expected {}, got {}", p.value("pod", ""), expect.when, p.dump()));
        }
    }
    if (expect.place_count) {
        if (placements.size() != *expect.place_count)
            out.push_back(
                fmt::format("place: expected {} pods, got {}", *expect.place_count, listed(pods_of(placements))));
        return;
    }
    for (const auto& [group, wanted] : expect.place_of) {
        check_group(group, wanted, taken(placements, [&](const Json& p) { return p.value("for", "") == group; }), out);
    }
    if (expect.other_placements) {
        const std::set<std::string> named = pods_of(expect.place);
        placements = taken(placements, [&](const Json& p) { return named.contains(p.value("pod", "")); });
    }
    check_exact("place", expect.place, placements, out);
}

// Cost vectors are lists of pairs; a few terms of one are written as an object.
bool terms_match(const Json& wanted, const Json& vector) {
    if (!wanted.is_object()) return matches_part(wanted, vector);
    return std::ranges::all_of(wanted.items(), [&](const auto& term) {
        return std::ranges::any_of(vector,
                                   [&](const Json& pair) { return pair[0] == term.key() && pair[1] == term.value(); });
    });
}

void check_certificate(const Json& wanted, const Json& certificates, Complaints& out) {
    const auto right = [&](const Json& got) {
        return std::ranges::all_of(wanted.items(), [&](const auto& field) {
            const std::string& key = field.key();
            if (key == "cost" || key == "bound" || key == "runnerUp")
                return terms_match(field.value(), got.value(key, Json::array()));
            return field_matches(key, field.value(), got);
        });
    };
    if (!std::ranges::any_of(certificates, right))
        out.push_back(fmt::format("certificates: expected {}, got {}", wanted.dump(), certificates.dump()));
}

void check_unplaced(const std::vector<Json>& wanted, const Json& got, Complaints& out) {
    std::vector<Json> plain = wanted;
    for (Json& entry : plain)
        entry.erase("nodes");
    check_exact("unplaced", plain, got, out);
    for (const Json& entry : wanted) {
        const Json* found = find_entry(got, "pod", entry.value("pod", ""));
        if (found == nullptr || !entry.contains("nodes")) continue;
        const Json counted = found->value("nodes", Json::object());
        for (const auto& [part, count] : entry["nodes"].items()) {
            std::int64_t nodes = 0;
            for (const auto& [reason, number] : counted.items()) {
                if (reason.find(part) != std::string::npos) nodes += number.get<std::int64_t>();
            }
            if (count != nodes)
                out.push_back(fmt::format("unplaced {}: expected {} nodes with '{}', got {}",
                                          entry.value("pod", ""),
                                          count.dump(),
                                          part,
                                          found->dump()));
        }
    }
}

void check_untouched(const std::vector<std::string>& pods, const Json& plan, Complaints& out) {
    for (const std::string& pod : pods) {
        if (const Json* eviction = find_entry(plan["evictions"], "pod", pod))
            out.push_back(fmt::format("untouched {}: got {}", pod, eviction->dump()));
        if (std::ranges::find(plan["nominationsCleared"], Json(pod)) != plan["nominationsCleared"].end()) {
            out.push_back(fmt::format("untouched {}: its nomination is cleared", pod));
        }
    }
}

// One part for each warning, one warning for each part.
void check_warnings(std::vector<std::string> parts, const Json& warnings, Complaints& out) {
    for (const Json& warning : warnings) {
        const auto it =
            std::ranges::find_if(parts, [&](const std::string& part) { return contains_text(warning, part); });
        if (it == parts.end())
            out.push_back(fmt::format("warnings: unexpected {}", warning.dump()));
        else
            parts.erase(it);
    }
    for (const std::string& part : parts)
        out.push_back(fmt::format("warnings: expected '{}'", part));
}

void check_queues(const Json& wanted, const Json& queues, Complaints& out) {
    for (const auto& [name, shares] : wanted.items()) {
        const Json* got = find_entry(queues, "name", name);
        if (got == nullptr)
            out.push_back(fmt::format("queues: {} is missing", name));
        else
            check_fields(fmt::format("queues {}", name), shares, *got, out);
    }
}

}  // namespace

bool matches_part(const Json& wanted, const Json& got) {
    if (wanted.is_object()) {
        return got.is_object() && std::ranges::all_of(wanted.items(), [&](const auto& item) {
                   return got.contains(item.key()) && matches_part(item.value(), got[item.key()]);
               });
    }
    if (wanted.is_array()) {
        return got.is_array() &&
               std::ranges::equal(wanted, got, [](const Json& a, const Json& b) { return matches_part(a, b); });
    }
    return wanted == got;
}

Complaints check_decisions(const Decisions& expect, const Json& plan) {
    Complaints out;
    check_evictions(expect, plan["evictions"], out);
    check_placements(expect, plan["placements"], out);
    for (const auto& [name, wanted] : expect.arrays) {
        const Json got = plan.value(name, Json::array());
        if (!matches_part(wanted, got))
            out.push_back(fmt::format("{}: expected {}, got {}", name, wanted.dump(), got.dump()));
    }
    return out;
}

Complaints check_cycle(const CycleExpect& expect, const Planned& planned) {
    if (!expect.error.empty()) {
        if (planned.error.find(expect.error) != std::string::npos) return {};
        return {fmt::format("error: expected '{}', got '{}'", expect.error, planned.error)};
    }
    if (!planned.error.empty()) return {fmt::format("the input is refused: {}", planned.error)};
    const Json plan = Json::parse(planned.json);
    Complaints out = planned.violations;
    if (expect.plan) std::ranges::copy(check_decisions(*expect.plan, plan), std::back_inserter(out));
    check_untouched(expect.untouched, plan, out);
    if (expect.unplaced) check_unplaced(*expect.unplaced, plan["unplaced"], out);
    for (const Json& certificate : expect.certificates)
        check_certificate(certificate, plan["certificates"], out);
    std::vector<std::string> names = expect.nominations_cleared;
    std::ranges::sort(names);
    if (const Json cleared = names; cleared != plan["nominationsCleared"])
        out.push_back(
            fmt::format("nominationsCleared: expected {}, got {}", cleared.dump(), plan["nominationsCleared"].dump()));
    if (expect.warnings) check_warnings(*expect.warnings, plan["warnings"], out);
    check_queues(expect.queues, plan["queues"], out);
    if (expect.exit && *expect.exit != planned.exit)
        out.push_back(fmt::format("exit: expected {}, got {}", *expect.exit, planned.exit));
    return out;
}

}  // namespace reprieve::scenario
