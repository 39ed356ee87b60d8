// RecordReader: decisions, found by name and time, with what they evict and place.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "record/reader_files.h"

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;
using Ids = std::set<std::int64_t>;

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

// All that can be read: from the beginning, and from the end, to where the table is damaged.
Ids decisions_left(Database& db) {
    Ids out;
    for (const char* sql : {"SELECT id FROM decision ORDER BY id", "SELECT id FROM decision ORDER BY id DESC"}) {
        auto rows = db.prepare(sql);
        if (!rows) continue;
        for (auto row = rows->step(); row && *row; row = rows->step())
            out.insert(rows->number(0));
    }
    return out;
}

std::string placement_text(const Statement& row,
                           const std::string& node,
                           const std::string& action,
                           const std::string& owner) {
    if (!row.is_null(3)) return row.text(3);
    Json out = Json::object();
    out["pod"] = row.text(0);
    out["node"] = node;
    out["when"] = row.number(2) != 0 ? "afterEvictions" : "now";
    if (!owner.empty() && owner != row.text(0)) out["for"] = owner;
    out["action"] = action;
    return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Whether a person who gives this name means the decision.
bool is_about(const RecordedDecision& decision, const std::string& name) {
    const auto means = [&](const std::string& full) { return full == name || full.ends_with("/" + name); };
    return means(decision.owner) || decision.queue == name || std::ranges::any_of(decision.victims, means) ||
           std::ranges::any_of(decision.placed, means);
}

// Where the name is lost, what the decision evicts and places still says for whom and by what.
void complete_from_parts(RecordedDecision& decision) {
    for (const auto* parts : {&decision.evictions, &decision.placements}) {
        if (parts->empty()) continue;
        const Json json = Json::parse(parts->front(), nullptr, false);
        if (!json.is_object()) continue;
        if (decision.owner.empty())
            decision.owner = json.value("for", parts == &decision.placements ? json.value("pod", "") : "");
        if (decision.action.empty()) decision.action = json.value("action", "");
    }
}

// Decisions of one file by their numbers. A part that is lost does not take the others along: `lost` is told why.
class DecisionRows {
public:
    // `facts`, `loser`: the columns that hold priority and lost work, and a victim's queue, or NULL in their place.
    DecisionRows(Database& db,
                 const std::string& facts,
                 const std::string& loser,
                 std::function<void(const std::string&)> lost)
        : db_(db),
          heads_sql_("SELECT d.cycle, c.at, d.owner, d.pod, d.action, d.queue, d.certificate, " + facts +
                     " FROM decision d JOIN cycle c ON c.id = d.cycle WHERE d.id = ?"),
          evictions_sql_("SELECT p.name, e.body, " + loser +
                         " FROM eviction e JOIN pod p ON p.id = e.pod WHERE e.decision = ? ORDER BY p.name"),
          lost_(std::move(lost)) {}

    std::optional<RecordedDecision> read(std::int64_t id) {
        torn_ = false;
        std::optional<RecordedDecision> out;
        std::int64_t owner = 0;
        std::int64_t pod = 0;
        std::int64_t action = 0;
        std::int64_t queue = 0;
        each_row(heads_, heads_sql_.c_str(), id, [&](const Statement& row) {
            out = RecordedDecision{.id = id, .cycle = row.number(0), .at = {row.number(1)}, .certificate = row.text(6)};
            owner = row.number(2);
            pod = row.number(3);
            action = row.number(4);
            queue = row.number(5);
            if (!row.is_null(7)) out->priority = static_cast<std::int32_t>(row.number(7));
            out->lost = row.text(8);
        });
        if (!out) return out;
        out->owner = text(names_, kNameOf, owner);
        if (out->owner.empty()) out->owner = text(pods_, "SELECT name FROM pod WHERE id = ?", pod);
        out->action = text(names_, kNameOf, action);
        out->queue = text(names_, kNameOf, queue);
        out->outcome = text(outcomes_, "SELECT outcome FROM decisions WHERE decision = ?", id);
        read_evictions(*out);
        read_placements(*out);
        if (torn_) complete_from_parts(*out);
        out->whole = !torn_ || (evictions_told_ && !out->outcome.empty() && !out->owner.empty());
        return out;
    }

private:
    static constexpr const char* kNameOf = "SELECT text FROM name WHERE id = ?";

    // Whether all rows could be read. Statements are made when they are first needed.
    template <class Use>
    bool each_row(std::optional<Statement>& rows, const char* sql, std::int64_t argument, Use&& use) {
        if (!rows) {
            auto made = db_.prepare(sql);
            if (!made) return lose(made.error().message);
            rows = std::move(*made);
        }
        rows->bind(argument);
        while (true) {
            const auto row = rows->step();
            if (!row) return lose(row.error().message);
            if (!*row) return true;
            use(*rows);
        }
    }

    bool lose(const std::string& why) {
        torn_ = true;
        lost_(why);
        return false;
    }

    std::string text(std::optional<Statement>& rows, const char* sql, std::int64_t row) {
        std::string out;
        if (row != 0) each_row(rows, sql, row, [&](const Statement& found) { out = found.text(0); });
        return out;
    }

    void read_evictions(RecordedDecision& decision) {
        evictions_told_ = each_row(evictions_, evictions_sql_.c_str(), decision.id, [&](const Statement& row) {
            decision.victims.push_back(row.text(0));
            decision.evictions.push_back(row.text(1));
            decision.losers.push_back(text(names_, kNameOf, row.number(2)));
        });
    }

    void read_placements(RecordedDecision& decision) {
        bool all = true;
        Time last;
        each_row(placements_,
                 "SELECT p.name, a.node, a.later, a.body, p.started, p.node = a.node FROM placement a "
                 "JOIN pod p ON p.id = a.pod WHERE a.decision = ? ORDER BY p.name",
                 decision.id,
                 [&](const Statement& row) {
                     decision.placed.push_back(row.text(0));
                     decision.placements.push_back(
                         placement_text(row, text(names_, kNameOf, row.number(1)), decision.action, decision.owner));
                     const bool here = !row.is_null(4) && row.number(5) != 0;
                     all = all && here;
                     if (here) last = std::max(last, Time{row.number(4)});
                 });
        if (all && !decision.placed.empty()) decision.started = last;
    }

    Database& db_;
    std::string heads_sql_;
    std::string evictions_sql_;
    std::function<void(const std::string&)> lost_;
    bool torn_ = false;            // some part of the decision is lost
    bool evictions_told_ = false;  // all of its evictions are known
    std::optional<Statement> heads_;
    std::optional<Statement> names_;
    std::optional<Statement> pods_;
    std::optional<Statement> outcomes_;
    std::optional<Statement> evictions_;
    std::optional<Statement> placements_;
};

}  // namespace

std::vector<RecordedDecision> RecordReader::decisions(const DecisionQuery& query) {
    std::vector<RecordedDecision> out;
    const std::int64_t until = query.until.is_set() ? query.until.us : kLastMoment;
    const bool all_actions = query.action.empty();
    for (auto at = files_.rbegin(); at != files_.rend(); ++at) {
        File& file = **at;
        if (query.most > 0 && out.size() >= query.most) break;
        if (file.to < query.since || file.from.us > until) continue;
        auto ids = query.name.empty() ? decisions_between(file.db, query.since.us, until, all_actions ? query.most : 0)
                                      : decisions_named(file.db, query.name);
        const auto lost = [&](const std::string& why) { lose(file, why, file.from, file.to); };
        const bool guessed = !ids;
        if (guessed) {
            lost(ids.error().message);
            ids = decisions_left(file.db);
        }
        DecisionRows rows(file.db,
                          std::string(file.if_there("d.priority")) + ", " + file.if_there("d.lost"),
                          file.if_there("e.queue"),
                          lost);
        for (auto id = ids->rbegin(); id != ids->rend(); ++id) {
            auto one = rows.read(*id);
            if (!one || one->at < query.since || one->at.us > until) continue;
            if (!all_actions && one->action != query.action) continue;
            if (guessed && !query.name.empty() && !is_about(*one, query.name)) continue;
            out.push_back(std::move(*one));
            if (query.most > 0 && out.size() >= query.most) break;
        }
    }
    std::ranges::sort(out, {}, [](const RecordedDecision& one) { return std::pair(one.cycle, one.id); });
    return out;
}

std::map<std::int64_t, DeedCounts> RecordReader::deed_counts() {
    std::map<std::int64_t, DeedCounts> out;
    each_file([&](File& file) -> Result<void> {
        for (const auto& [table, count] :
             {std::pair("eviction", &DeedCounts::evictions), std::pair("placement", &DeedCounts::placements)}) {
            auto rows = file.db.prepare(fmt::format(
                "SELECT d.cycle, count(*) FROM {} x JOIN decision d ON d.id = x.decision GROUP BY d.cycle", table));
            if (!rows) return std::unexpected(rows.error());
            while (true) {
                const auto row = rows->step();
                if (!row) return std::unexpected(row.error());
                if (!*row) break;
                out[rows->number(0)].*count += rows->number(1);
            }
        }
        return {};
    });
    return out;
}

}  // namespace reprieve
