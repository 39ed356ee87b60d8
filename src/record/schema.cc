#include "record/schema.h"

#include <fmt/format.h>

namespace reprieve {
namespace {

constexpr const char* kTables = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE config(id INTEGER PRIMARY KEY, body BLOB NOT NULL UNIQUE);
-- One row a process that wrote here.
CREATE TABLE run(id INTEGER PRIMARY KEY, at INTEGER, version TEXT, config INTEGER, dry INTEGER);
-- kind 0: changes first..last; kind 1: a part of the keyframe that contains all up to first.
CREATE TABLE block(id INTEGER PRIMARY KEY, kind INTEGER, first INTEGER, last INTEGER, at INTEGER, raw INTEGER, body BLOB);
CREATE INDEX block_first ON block(kind, first);
CREATE TABLE keyframe(seq INTEGER PRIMARY KEY, at INTEGER, objects INTEGER, fresh INTEGER);
CREATE TABLE plan_block(id INTEGER PRIMARY KEY, first INTEGER, last INTEGER, raw INTEGER, body BLOB);
CREATE INDEX plan_block_first ON plan_block(first);
CREATE TABLE cycle(id INTEGER PRIMARY KEY, at INTEGER, seq INTEGER, run INTEGER, plan INTEGER, plan_id BLOB, inputs TEXT,
    decided INTEGER, acted INTEGER, sound INTEGER, planning INTEGER, whole INTEGER, changes INTEGER);
CREATE INDEX cycle_at ON cycle(at);
CREATE TABLE name(id INTEGER PRIMARY KEY, text TEXT NOT NULL);
-- One row a pod of which something happened in this file.
CREATE TABLE pod(id INTEGER PRIMARY KEY, name TEXT NOT NULL, uid BLOB, node INTEGER, controller INTEGER, created INTEGER,
    bound INTEGER, started INTEGER, leaving INTEGER, ended INTEGER);
CREATE INDEX pod_name ON pod(name);
CREATE TABLE decision(id INTEGER PRIMARY KEY, cycle INTEGER, owner INTEGER, pod INTEGER, action INTEGER, queue INTEGER,
    certificate TEXT, superseded INTEGER, priority INTEGER, lost TEXT);
CREATE INDEX decision_owner ON decision(owner) WHERE owner IS NOT NULL;
CREATE INDEX decision_pod ON decision(pod) WHERE pod IS NOT NULL;
CREATE INDEX decision_cycle ON decision(cycle);
CREATE TABLE eviction(id INTEGER PRIMARY KEY, decision INTEGER, pod INTEGER, node INTEGER, queue INTEGER, body TEXT);
CREATE INDEX eviction_decision ON eviction(decision);
CREATE INDEX eviction_pod ON eviction(pod);
CREATE TABLE placement(id INTEGER PRIMARY KEY, decision INTEGER, pod INTEGER, node INTEGER, later INTEGER, body TEXT);
CREATE INDEX placement_decision ON placement(decision);
CREATE INDEX placement_pod ON placement(pod);
CREATE TABLE wait(id INTEGER PRIMARY KEY, pod TEXT NOT NULL, owner TEXT, since INTEGER, until INTEGER, cycle INTEGER,
    never INTEGER, reason INTEGER);
CREATE INDEX wait_pod ON wait(pod);
CREATE TABLE write(id INTEGER PRIMARY KEY, at INTEGER, decision INTEGER, pod INTEGER, step INTEGER, ok INTEGER,
    tried INTEGER, what INTEGER);
CREATE INDEX write_decision ON write(decision);
-- What each queue holds, where that has changed.
CREATE TABLE queue_use(at INTEGER PRIMARY KEY, raw INTEGER, body BLOB);
CREATE TABLE gap(since INTEGER, until INTEGER, why TEXT);
)sql";

// {0}: a time in microseconds as text; the views would be unreadable otherwise.
std::string time_sql(const std::string& column) {
    return fmt::format(
        "strftime('%Y-%m-%dT%H:%M:%S', {0} / 1000000, 'unixepoch') || "
        "CASE WHEN {0} % 1000000 = 0 THEN '' ELSE printf('.%06d', {0} % 1000000) END || 'Z'",
        column);
}

std::string views_sql() {
    const std::string steps =
        "CASE w.step WHEN 0 THEN 'record' WHEN 1 THEN 'mark' WHEN 2 THEN 'evict' WHEN 3 THEN 'nominate' "
        "WHEN 4 THEN 'clearNomination' WHEN 5 THEN 'bind' WHEN 6 THEN 'scale' WHEN 7 THEN 'forceDelete' "
        "WHEN 8 THEN 'annotate' WHEN 9 THEN 'status' END";
    std::string sql = fmt::format(R"sql(
CREATE VIEW decisions AS SELECT {} AS at, d.cycle AS cycle, d.id AS decision,
    coalesce(o.text, dp.name) AS "for", a.text AS action, q.text AS queue, d.priority AS priority,
    (SELECT count(*) FROM eviction e WHERE e.decision = d.id) AS evictions,
    (SELECT count(*) FROM placement p WHERE p.decision = d.id) AS placements,
    json_extract(d.certificate, '$.status') AS status, json_extract(d.certificate, '$.cost') AS cost,
    d.lost AS lost,
    CASE WHEN c.acted = 0 THEN 'dropped'
         WHEN d.superseded IS NOT NULL THEN 'superseded'
         WHEN EXISTS (SELECT 1 FROM write w WHERE w.decision = d.id AND w.ok = 0)
         THEN CASE WHEN EXISTS (SELECT 1 FROM write w WHERE w.decision = d.id AND w.ok = 1) THEN 'partly' ELSE 'dropped' END
         ELSE 'carriedOut' END AS outcome,
    (SELECT CASE WHEN count(*) = count(s.started) THEN {} END
       FROM placement p JOIN pod s ON s.id = p.pod WHERE p.decision = d.id AND s.node = p.node) AS started
FROM decision d JOIN cycle c ON c.id = d.cycle LEFT JOIN name o ON o.id = d.owner LEFT JOIN pod dp ON dp.id = d.pod
    LEFT JOIN name a ON a.id = d.action LEFT JOIN name q ON q.id = d.queue;
)sql",
                                  time_sql("c.at"),
                                  time_sql("max(s.started)"));
    sql += fmt::format(R"sql(
CREATE VIEW evictions AS SELECT {} AS at, d.cycle AS cycle, d.id AS decision, v.name AS pod, n.text AS node, q.text AS queue,
    json_extract(e.body, '$.unit') AS unit, json_extract(e.body, '$.group') AS "group",
    coalesce(o.text, dp.name) AS "for", a.text AS action, json_extract(e.body, '$.mode') AS mode,
    json_extract(e.body, '$.pdbViolation') AS pdbViolation, json_extract(e.body, '$.stage') AS stage,
    json_extract(e.body, '$.reason') AS reason, {} AS started, {} AS ended
FROM eviction e JOIN decision d ON d.id = e.decision JOIN cycle c ON c.id = d.cycle JOIN pod v ON v.id = e.pod
    LEFT JOIN name n ON n.id = e.node LEFT JOIN name q ON q.id = e.queue LEFT JOIN name o ON o.id = d.owner LEFT JOIN pod dp ON dp.id = d.pod
    LEFT JOIN name a ON a.id = d.action;
)sql",
                       time_sql("c.at"),
                       time_sql("v.started"),
                       time_sql("v.ended"));
    sql += fmt::format(R"sql(
CREATE VIEW placements AS SELECT {} AS at, d.cycle AS cycle, d.id AS decision, p.pod_name AS pod, n.text AS node,
    CASE WHEN p.later THEN 'afterEvictions' ELSE 'now' END AS "when", o.text AS "for",
    json_extract(p.body, '$.domain') AS domain, a.text AS action, {} AS bound, {} AS started
FROM (SELECT p.*, s.name AS pod_name, s.bound AS pod_bound, s.started AS pod_started FROM placement p
      JOIN pod s ON s.id = p.pod) p
    JOIN decision d ON d.id = p.decision JOIN cycle c ON c.id = d.cycle LEFT JOIN name n ON n.id = p.node
    LEFT JOIN name o ON o.id = d.owner LEFT JOIN name a ON a.id = d.action;
)sql",
                       time_sql("c.at"),
                       time_sql("p.pod_bound"),
                       time_sql("p.pod_started"));
    sql += fmt::format(R"sql(
CREATE VIEW waits AS SELECT w.pod AS pod, w.owner AS "for", {} AS since, {} AS until, w.cycle AS cycle,
    CASE WHEN w.never THEN 'never' ELSE 'notNow' END AS verdict, r.text AS reason
FROM wait w LEFT JOIN name r ON r.id = w.reason;
)sql",
                       time_sql("w.since"),
                       time_sql("w.until"));
    sql += fmt::format(R"sql(
CREATE VIEW writes AS SELECT {} AS at, w.decision AS decision, p.name AS pod, {} AS step, w.ok AS ok, w.tried AS tried,
    n.text AS what
FROM write w LEFT JOIN pod p ON p.id = w.pod LEFT JOIN name n ON n.id = w.what;
)sql",
                       time_sql("w.at"),
                       steps);
    return sql;
}

}  // namespace

Result<void> make_schema(Database& db, const std::string& version) {
    // Views first: what SQLite keeps of them then lies at the beginning of the file, and is not lost with its end.
    if (auto made = db.run("BEGIN;" + views_sql() + kTables); !made) return made;
    auto note = db.prepare("INSERT INTO meta VALUES('format', ?), ('version', ?)");
    if (!note) return std::unexpected(note.error());
    if (auto done = note->bind(kRecordFormat).bind(version).run(); !done) return done;
    return db.run("COMMIT");
}

std::string nothing_left_sentence(const std::string& file) {
    return fmt::format(
        "{}: holds nothing that can be read; it has only just begun, or the -wal file beside it is missing or cut off",
        file);
}

Result<void> check_schema(Database& db) {
    const auto tables = db.number("SELECT count(*) FROM sqlite_schema WHERE name IN ('meta', 'block', 'cycle')");
    if (!tables) return std::unexpected(tables.error());
    if (*tables != 3) {
        const auto all = db.number("SELECT count(*) FROM sqlite_schema");
        // What a recorder that was killed leaves in the file itself; the rest is in the -wal file.
        if (all && *all == 0) return fail(nothing_left_sentence(db.file()));
        return fail(fmt::format("{}: is not a record of Reprieve", db.file()));
    }
    const auto format = db.number("SELECT value FROM meta WHERE key = 'format'");
    if (!format) return std::unexpected(format.error());
    if (*format > kRecordFormat) {
        const auto version = db.text("SELECT value FROM meta WHERE key = 'version'");
        return fail(fmt::format("{}: was written in format {} by version {}; this program reads formats up to {}",
                                db.file(),
                                *format,
                                version.value_or("?"),
                                kRecordFormat));
    }
    if (*format < 1) return fail(fmt::format("{}: is not a record of Reprieve", db.file()));
    return {};
}

std::int64_t day_of(Time at) { return at.us / kRecordDayUs - (at.us % kRecordDayUs < 0 ? 1 : 0); }

std::string record_file_name(Time at, int part) {
    const std::string day = format_time({day_of(at) * kRecordDayUs}).substr(0, 10);
    return part <= 1 ? fmt::format("record-{}.db", day) : fmt::format("record-{}.{}.db", day, part);
}

}  // namespace reprieve
