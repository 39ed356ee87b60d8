#include "record/reader_files.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "record/ledger.h"

namespace reprieve {

// The facts and moments of rows (number, time) that can be read.
void RecordReader::File::cover(const char* sql) {
    auto rows = db.prepare(sql);
    if (!rows) return;
    for (auto row = rows->step(); row && *row; row = rows->step()) {
        const std::int64_t seq = std::max<std::int64_t>(1, rows->number(0));
        const Time at{rows->number(1)};
        if (first_seq == 0 || seq < first_seq) first_seq = seq;
        last_seq = std::max(last_seq, seq);
        if (!from.is_set() || at < from) from = at;
        to = std::max(to, at);
    }
}

// What is left of its tables says what the file still covers: each is read from its beginning, and from its end, to
// where it is damaged.
void RecordReader::File::look_at_the_rest() {
    for (const char* sql : {"SELECT seq, at FROM keyframe ORDER BY seq",
                            "SELECT seq, at FROM cycle ORDER BY id",
                            "SELECT seq, at FROM cycle ORDER BY id DESC",
                            "SELECT last, at FROM block ORDER BY id",
                            "SELECT last, at FROM block ORDER BY id DESC"})
        cover(sql);
    static_cast<void>(look_at_runs());  // cycles of runs that are lost have no configuration
}

bool RecordReader::File::has_cycles() { return db.number("SELECT count(*) FROM (SELECT 1 FROM cycle LIMIT 1)") != 0; }

const char* RecordReader::File::blocks() {
    if (!blocks_indexed)
        blocks_indexed = db.number("SELECT count(first) FROM block INDEXED BY block_first WHERE kind >= 0").has_value();
    return *blocks_indexed ? "block" : "block NOT INDEXED";
}

const char* RecordReader::File::plan_blocks() {
    if (!plans_indexed)
        plans_indexed =
            db.number("SELECT count(first) FROM plan_block INDEXED BY plan_block_first WHERE first >= 0").has_value();
    return *plans_indexed ? "plan_block" : "plan_block NOT INDEXED";
}

Result<void> RecordReader::File::look_at_runs() {
    auto rows = db.prepare("SELECT id, version, config FROM run");
    if (!rows) return std::unexpected(rows.error());
    while (true) {
        const auto row = rows->step();
        if (!row) return std::unexpected(row.error());
        if (!*row) return {};
        runs[rows->number(0)] = {.version = rows->text(1), .config = rows->number(2)};
    }
}

Result<void> RecordReader::File::look() {
    const auto number = [&](const char* sql, std::int64_t& out) -> Result<void> {
        const auto found = db.number(sql);
        if (!found) return std::unexpected(found.error());
        out = *found;
        return {};
    };
    const std::pair<const char*, std::int64_t*> all[] = {
        {"SELECT min(seq) FROM keyframe", &first_seq},
        {"SELECT max(coalesce((SELECT max(last) FROM block), 0), coalesce((SELECT max(seq) FROM keyframe), 0))",
         &last_seq},
        {"SELECT min(at) FROM keyframe", &from.us},
        {"SELECT max(coalesce((SELECT max(at) FROM cycle), 0), coalesce((SELECT max(at) FROM block), 0), "
         "coalesce((SELECT max(at) FROM keyframe), 0))",
         &to.us},
    };
    for (const auto& [sql, out] : all) {
        if (auto done = number(sql, *out); !done) return done;
    }
    return look_at_runs();
}

RecordedCycle RecordReader::File::cycle_of(const Statement& row) const {
    RecordedCycle out{.id = row.number(0),
                      .at = {row.number(1)},
                      .seq = row.number(2),
                      .plan = row.number(4),
                      .plan_id = row.text(5),
                      .inputs = inputs_from_json(row.text(6)),
                      .decided = row.number(7),
                      .acted = row.number(8) != 0,
                      .sound = row.number(9) != 0,
                      .planning = {row.number(10)},
                      .whole = {row.number(11)},
                      .changes = row.number(12),
                      .version = {},
                      .config = kNoConfig,
                      .file = index};
    if (const auto run = runs.find(row.number(3)); run != runs.end()) {
        out.version = run->second.version;
        out.config = run->second.config;
    }
    return out;
}

std::optional<RecordedChange> parse_line(std::string_view line, std::string& unescaped) {
    constexpr std::string_view kAt = "{\"at\":";
    constexpr std::string_view kKey = ",\"key\":\"";
    constexpr std::string_view kIs = ",\"is\":";
    constexpr std::string_view kBelieved = ",\"believed\":";
    RecordedChange out;
    if (!line.starts_with(kAt) || !line.ends_with('}')) return std::nullopt;
    line.remove_prefix(kAt.size());
    line.remove_suffix(1);
    const auto read = std::from_chars(line.data(), line.data() + line.size(), out.at.us);
    if (read.ec != std::errc{}) return std::nullopt;
    line.remove_prefix(static_cast<std::size_t>(read.ptr - line.data()));
    if (!line.starts_with(kKey)) return std::nullopt;
    line.remove_prefix(kKey.size());
    std::size_t end = 0;
    while (end < line.size() && line[end] != '"')
        end += line[end] == '\\' ? 2U : 1U;
    if (end >= line.size()) return std::nullopt;
    out.key = line.substr(0, end);
    if (out.key.find('\\') != std::string_view::npos) {
        const auto text = nlohmann::json::parse("\"" + std::string(out.key) + "\"", nullptr, false);
        if (!text.is_string()) return std::nullopt;
        unescaped = text.get<std::string>();
        out.key = unescaped;
    }
    line.remove_prefix(end + 1);
    out.believed = line.starts_with(kBelieved);
    if (!out.believed && !line.starts_with(kIs)) return std::nullopt;
    line.remove_prefix(out.believed ? kBelieved.size() : kIs.size());
    if (line != "null") out.json = line;
    return out;
}

bool apply_change(const RecordedChange& change, RecordedWorld& world) {
    const std::string key(change.key);
    if (change.believed) {
        const auto known = world.find(key);
        if (known == world.end()) return false;
        known->second.overlay = change.json;
    } else if (change.json.empty()) {
        world.erase(key);
    } else {
        world[key].json = change.json;
    }
    return true;
}

}  // namespace reprieve
