// RecordReader: waits, lifelines and writes, found by name.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "record/blocks.h"
#include "record/ledger.h"
#include "record/reader_files.h"

namespace reprieve {

// Namespaces are found by jumping from one to the next in the index, not by looking at every pod.
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
                "SELECT p.name, p.uid, n.text, p.created, p.bound, p.started, p.leaving, p.ended, c.text FROM pod p "
                "LEFT JOIN name n ON n.id = p.node LEFT JOIN name c ON c.id = {} WHERE {} AND "
                "coalesce(p.ended, {}) >= ? AND coalesce(p.bound, p.created, 0) <= ? ORDER BY p.id{} LIMIT ?",
                file.if_there("p.controller"),
                name.empty() ? "?1 = ''" : "p.name = ?1",
                kLastMoment,
                query.most == 0 ? "" : " DESC"));
            if (!rows) return std::unexpected(rows.error());
            rows->bind(std::string_view(name)).bind(query.since.us).bind(until);
            rows->bind(query.most == 0 ? -1 : static_cast<std::int64_t>(query.most));
            std::set<std::string> newer;  // of this file; rows come newest first where not all are asked for
            while (true) {
                const auto row = rows->step();
                if (!row) return std::unexpected(row.error());
                if (!*row) break;
                PodLife life{.pod = rows->text(0),
                             .uid = unpacked_uid(rows->blob(1)),
                             .node = rows->text(2),
                             .controller = rows->text(8),
                             .created = {rows->number(3)},
                             .bound = {rows->number(4)},
                             .started = {rows->number(5)},
                             .leaving = {rows->number(6)},
                             .ended = {rows->number(7)}};
                if (query.most > 0 && !newer.insert(life.pod + life.uid).second) continue;
                found[{life.pod, life.uid}] = std::move(life);
            }
        }
        return {};
    });
    std::vector<PodLife> out;
    for (auto& [key, life] : found)
        out.push_back(std::move(life));
    return out;
}

std::vector<RecordedUse> RecordReader::use(Time until, std::size_t most) {
    std::vector<RecordedUse> out;
    for (auto at = files_.rbegin(); at != files_.rend() && out.size() < most; ++at) {
        File& file = **at;
        if (file.from > until || file.if_there("") != std::string_view()) continue;
        auto rows = file.db.prepare("SELECT at, raw, body FROM queue_use WHERE at <= ? ORDER BY at DESC LIMIT ?");
        if (!rows) continue;
        rows->bind(until.us).bind(static_cast<std::int64_t>(most - out.size()));
        for (auto row = rows->step(); row && *row; row = rows->step()) {
            auto text = unpack_block(rows->blob(2), static_cast<std::size_t>(rows->number(1)));
            if (text) out.push_back({.at = {rows->number(0)}, .queues = std::move(*text)});
        }
    }
    std::ranges::reverse(out);
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
