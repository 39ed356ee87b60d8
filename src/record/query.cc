// RecordReader: decisions, waits, lifelines and writes, found by name.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "record/ledger.h"
#include "record/reader_files.h"

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;
using Ids = std::set<std::int64_t>;

constexpr std::int64_t kLastMoment = INT64_MAX;

Result<void> collect_ids(Database& db, std::string_view sql, std::int64_t argument, Ids& out) {
    auto rows = db.prepare(sql);
    if (!rows) return std::unexpected(rows.error());
    rows->bind(argument);
    while (true) {
        const auto row = rows->step();
        if (!row) return std::unexpected(row.error());
        if (!*row) return {};
        out.insert(rows->number(0));
    }
}

Result<void> collect_named(Database& db, std::string_view sql, std::string_view text, Ids& out) {
    auto rows = db.prepare(sql);
    if (!rows) return std::unexpected(rows.error());
    rows->bind(text);
    while (true) {
        const auto row = rows->step();
        if (!row) return std::unexpected(row.error());
        if (!*row) return {};
        out.insert(rows->number(0));
    }
}

// The names of pods that a person means: with the namespace, or that name in any namespace. Namespaces are found by
// jumping from one to the next in the index, not by looking at every pod.
Result<std::vector<std::string>> full_names(Database& db,
                                            const char* table,
                                            const char* column,
                                            const std::string& name) {
    if (name.find('/') != std::string::npos) return std::vector<std::string>{name};
    std::vector<std::string> out;
    auto rows = db.prepare(fmt::format("SELECT min({0}) FROM {1} WHERE {0} >= ?", column, table));
    if (!rows) return std::unexpected(rows.error());
    std::string from;
    while (true) {
        const auto row = rows->bind(from).step();
        if (!row) return std::unexpected(row.error());
        const std::string found = *row ? rows->text(0) : std::string();
        rows->reset();
        if (found.empty()) return out;
        const std::string ns = found.substr(0, found.find('/'));
        out.push_back(ns + "/" + name);
        from = ns + "0";  // the character after the slash
    }
}

Result<Ids> pods_named(Database& db, const std::string& name) {
    Ids out;
    const auto names = full_names(db, "pod", "name", name);
    if (!names) return std::unexpected(names.error());
    for (const std::string& one : *names) {
        if (auto found = collect_named(db, "SELECT id FROM pod WHERE name = ?", one, out); !found)
            return std::unexpected(found.error());
    }
    return out;
}

Result<Ids> decisions_named(Database& db, const std::string& name) {
    Ids out;
    const auto pods = pods_named(db, name);
    if (!pods) return std::unexpected(pods.error());
    for (const std::int64_t pod : *pods) {
        for (const char* sql : {"SELECT id FROM decision WHERE pod = ?",
                                "SELECT decision FROM eviction WHERE pod = ?",
                                "SELECT decision FROM placement WHERE pod = ?"}) {
            if (auto found = collect_ids(db, sql, pod, out); !found) return std::unexpected(found.error());
        }
    }
    Ids names;
    const bool qualified = name.find('/') != std::string::npos;
    const std::string text = qualified ? name : "%/" + name;
    if (auto found =
            collect_named(db,
                          qualified ? "SELECT id FROM name WHERE text = ?" : "SELECT id FROM name WHERE text LIKE ?",
                          text,
                          names);
        !found)
        return std::unexpected(found.error());
    for (const std::int64_t one : names) {
        if (auto found = collect_ids(db, "SELECT id FROM decision WHERE owner = ?", one, out); !found)
            return std::unexpected(found.error());
    }
    if (!out.empty() || !pods->empty()) return out;
    // Neither a pod nor a gang: perhaps a queue.
    names.clear();
    if (auto found = collect_named(db, "SELECT id FROM name WHERE text = ?", name, names); !found)
        return std::unexpected(found.error());
    for (const std::int64_t one : names) {
        if (auto found = collect_ids(db, "SELECT id FROM decision WHERE queue = ?", one, out); !found)
            return std::unexpected(found.error());
    }
    return out;
}

Result<Ids> decisions_between(Database& db, std::int64_t since, std::int64_t until, std::size_t most) {
    Ids out;
    auto rows = db.prepare(
        "SELECT d.id FROM cycle c JOIN decision d ON d.cycle = c.id WHERE c.at BETWEEN ? AND ? "
        "ORDER BY c.at DESC, d.id DESC LIMIT ?");
    if (!rows) return std::unexpected(rows.error());
    rows->bind(since).bind(until).bind(most == 0 ? -1 : static_cast<std::int64_t>(most));
    while (true) {
        const auto row = rows->step();
        if (!row) return std::unexpected(row.error());
        if (!*row) return out;
        out.insert(rows->number(0));
    }
}

std::string placement_text(const Statement& row, const std::string& action, const std::string& owner) {
    if (!row.is_null(3)) return row.text(3);
    Json out = Json::object();
    out["pod"] = row.text(0);
    out["node"] = row.text(1);
    out["when"] = row.number(2) != 0 ? "afterEvictions" : "now";
    if (!owner.empty() && owner != row.text(0)) out["for"] = owner;
    out["action"] = action;
    return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<void> read_parts(Database& db, RecordedDecision& decision) {
    auto evictions = db.prepare(
        "SELECT p.name, e.body FROM eviction e JOIN pod p ON p.id = e.pod WHERE e.decision = ? ORDER BY p.name");
    if (!evictions) return std::unexpected(evictions.error());
    evictions->bind(decision.id);
    while (true) {
        const auto row = evictions->step();
        if (!row) return std::unexpected(row.error());
        if (!*row) break;
        decision.victims.push_back(evictions->text(0));
        decision.evictions.push_back(evictions->text(1));
    }
    auto placements = db.prepare(
        "SELECT p.name, n.text, a.later, a.body, p.started, p.node = a.node FROM placement a "
        "JOIN pod p ON p.id = a.pod LEFT JOIN name n ON n.id = a.node WHERE a.decision = ? ORDER BY p.name");
    if (!placements) return std::unexpected(placements.error());
    placements->bind(decision.id);
    bool all = true;
    Time last;
    while (true) {
        const auto row = placements->step();
        if (!row) return std::unexpected(row.error());
        if (!*row) break;
        decision.placed.push_back(placements->text(0));
        decision.placements.push_back(placement_text(*placements, decision.action, decision.owner));
        const bool here = !placements->is_null(4) && placements->number(5) != 0;
        all = all && here;
        if (here) last = std::max(last, Time{placements->number(4)});
    }
    if (all && !decision.placed.empty()) decision.started = last;
    return {};
}

}  // namespace

std::vector<RecordedDecision> RecordReader::decisions(const DecisionQuery& query) {
    std::vector<RecordedDecision> out;
    const std::int64_t until = query.until.is_set() ? query.until.us : kLastMoment;
    for (auto at = files_.rbegin(); at != files_.rend(); ++at) {
        File& file = **at;
        if (query.most > 0 && out.size() >= query.most) break;
        if (file.to < query.since || file.from.us > until) continue;
        const auto read = [&]() -> Result<void> {
            const bool all_actions = query.action.empty();
            auto ids = query.name.empty()
                           ? decisions_between(file.db, query.since.us, until, all_actions ? query.most : 0)
                           : decisions_named(file.db, query.name);
            if (!ids) return std::unexpected(ids.error());
            auto rows = file.db.prepare(
                "SELECT v.cycle, c.at, v.\"for\", v.action, v.queue, d.certificate, v.outcome FROM decisions v "
                "JOIN decision d ON d.id = v.decision JOIN cycle c ON c.id = v.cycle WHERE v.decision = ?");
            if (!rows) return std::unexpected(rows.error());
            for (auto id = ids->rbegin(); id != ids->rend(); ++id) {
                const auto row = rows->bind(*id).step();
                if (!row) return std::unexpected(row.error());
                if (!*row) continue;
                RecordedDecision one{.id = *id,
                                     .cycle = rows->number(0),
                                     .at = {rows->number(1)},
                                     .owner = rows->text(2),
                                     .action = rows->text(3),
                                     .queue = rows->text(4),
                                     .evictions = {},
                                     .placements = {},
                                     .victims = {},
                                     .placed = {},
                                     .certificate = rows->text(5),
                                     .outcome = rows->text(6),
                                     .started = {}};
                rows->reset();
                if (one.at < query.since || one.at.us > until) continue;
                if (!all_actions && one.action != query.action) continue;
                if (auto parts = read_parts(file.db, one); !parts) return parts;
                out.push_back(std::move(one));
                if (query.most > 0 && out.size() >= query.most) break;
            }
            return {};
        }();
        if (!read) trouble(read.error().message);
    }
    std::ranges::sort(out, {}, [](const RecordedDecision& one) { return std::pair(one.cycle, one.id); });
    return out;
}

std::vector<RecordedWait> RecordReader::waits(const DecisionQuery& query) {
    std::map<std::pair<std::string, std::int64_t>, RecordedWait> found;  // a wait over midnight stands in two files
    const std::int64_t until = query.until.is_set() ? query.until.us : kLastMoment;
    each_file([&](File& file) -> Result<void> {
        std::vector<std::string> names{query.name};
        if (!query.name.empty()) {
            auto full = full_names(file.db, "wait", "pod", query.name);
            if (!full) return std::unexpected(full.error());
            names = std::move(*full);
        }
        for (const std::string& name : names) {
            auto rows = file.db.prepare(fmt::format(
                "SELECT w.pod, w.owner, w.since, w.until, w.never, n.text FROM wait w LEFT JOIN name n ON n.id = "
                "w.reason WHERE {} AND coalesce(w.until, {}) >= ? AND w.since <= ? ORDER BY w.id",
                name.empty() ? "?1 = ''" : "w.pod = ?1",
                kLastMoment));
            if (!rows) return std::unexpected(rows.error());
            rows->bind(std::string_view(name)).bind(query.since.us).bind(until);
            while (true) {
                const auto row = rows->step();
                if (!row) return std::unexpected(row.error());
                if (!*row) break;
                found[{rows->text(0), rows->number(2)}] = {.pod = rows->text(0),
                                                           .owner = rows->text(1),
                                                           .since = {rows->number(2)},
                                                           .until = {rows->number(3)},
                                                           .never = rows->number(4) != 0,
                                                           .reason = rows->text(5)};
            }
        }
        return {};
    });
    std::vector<RecordedWait> out;
    for (auto& [key, wait] : found)
        out.push_back(std::move(wait));
    std::ranges::stable_sort(out, {}, &RecordedWait::since);
    return out;
}

std::vector<PodLife> RecordReader::lives(const DecisionQuery& query) {
    std::map<std::pair<std::string, std::string>, PodLife> found;  // by name and UID; later files know more
    const std::int64_t until = query.until.is_set() ? query.until.us : kLastMoment;
    each_file([&](File& file) -> Result<void> {
        std::vector<std::string> names{query.name};
        if (!query.name.empty()) {
            auto full = full_names(file.db, "pod", "name", query.name);
            if (!full) return std::unexpected(full.error());
            names = std::move(*full);
        }
        for (const std::string& name : names) {
            auto rows = file.db.prepare(fmt::format(
                "SELECT p.name, p.uid, n.text, p.created, p.bound, p.started, p.leaving, p.ended FROM pod p LEFT "
                "JOIN name n ON n.id = p.node WHERE {} AND coalesce(p.ended, {}) >= ? AND "
                "coalesce(p.bound, p.created, 0) <= ? ORDER BY p.id LIMIT ?",
                name.empty() ? "?1 = ''" : "p.name = ?1",
                kLastMoment));
            if (!rows) return std::unexpected(rows.error());
            rows->bind(std::string_view(name)).bind(query.since.us).bind(until);
            rows->bind(query.most == 0 ? -1 : static_cast<std::int64_t>(query.most));
            while (true) {
                const auto row = rows->step();
                if (!row) return std::unexpected(row.error());
                if (!*row) break;
                PodLife life{.pod = rows->text(0),
                             .uid = unpacked_uid(rows->blob(1)),
                             .node = rows->text(2),
                             .created = {rows->number(3)},
                             .bound = {rows->number(4)},
                             .started = {rows->number(5)},
                             .leaving = {rows->number(6)},
                             .ended = {rows->number(7)}};
                found[{life.pod, life.uid}] = life;
            }
        }
        return {};
    });
    std::vector<PodLife> out;
    for (auto& [key, life] : found)
        out.push_back(std::move(life));
    return out;
}

std::vector<RecordedWrite> RecordReader::writes(std::int64_t decision) {
    std::vector<RecordedWrite> out;
    each_file([&](File& file) -> Result<void> {
        auto rows = file.db.prepare(
            "SELECT w.at, p.name, w.step, w.ok, w.tried, n.text FROM write w LEFT JOIN pod p ON "
            "p.id = w.pod LEFT JOIN name n ON n.id = w.what WHERE w.decision = ? ORDER BY w.id");
        if (!rows) return std::unexpected(rows.error());
        rows->bind(decision);
        while (true) {
            const auto row = rows->step();
            if (!row) return std::unexpected(row.error());
            if (!*row) return {};
            out.push_back({.at = {rows->number(0)},
                           .decision = decision,
                           .pod = rows->text(1),
                           .step = to_text(static_cast<SinkStep>(rows->number(2))),
                           .ok = rows->number(3) != 0,
                           .tried = rows->number(4) != 0,
                           .what = rows->text(5)});
        }
    });
    return out;
}

}  // namespace reprieve
