#include "record/record_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "record/schema.h"

namespace reprieve {
namespace {

constexpr std::size_t kMostNames = 200'000;  // remembered; reasons of refusals are many

}  // namespace

Result<std::unique_ptr<RecordFile>> RecordFile::open(const std::string& path,
                                                     const std::string& version,
                                                     std::int64_t most_pages) {
    auto db = Database::open(path, Database::Mode::kCreate);
    if (!db) return std::unexpected(db.error());
    // Readers never block the writer; a crash of the program loses nothing that was committed.
    std::string pragmas =
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 16777216;";
    if (most_pages > 0) pragmas += fmt::format("PRAGMA max_page_count = {};", most_pages);
    if (auto set = db->run(pragmas); !set) return std::unexpected(set.error());
    const auto tables = db->number("SELECT count(*) FROM sqlite_schema");
    if (!tables) return std::unexpected(tables.error());
    if (auto fine = *tables == 0 ? make_schema(*db, version) : check_schema(*db); !fine)
        return std::unexpected(fine.error());
    return std::unique_ptr<RecordFile>(new RecordFile(std::move(*db)));
}

bool RecordFile::goes_on() {
    const auto format = db_.number("SELECT value FROM meta WHERE key = 'format'");
    return format && *format == kRecordFormat;
}

Result<RecordCounters> RecordFile::counters() {
    RecordCounters out;
    const std::pair<std::int64_t*, const char*> all[] = {
        {&out.seq,
         "SELECT max(coalesce((SELECT max(last) FROM block), 0), coalesce((SELECT max(seq) FROM keyframe), 0))"},
        {&out.cycle, "SELECT max(id) FROM cycle"},
        {&out.plan, "SELECT max(last) FROM plan_block"},
        {&out.decision, "SELECT max(id) FROM decision"},
    };
    for (const auto& [number, sql] : all) {
        const auto found = db_.number(sql);
        if (!found) return std::unexpected(found.error());
        *number = *found;
    }
    return out;
}

Result<Time> RecordFile::last_moment() {
    const auto found = db_.number(
        "SELECT max(coalesce((SELECT max(at) FROM cycle), 0), coalesce((SELECT max(at) FROM keyframe), 0), "
        "coalesce((SELECT max(at) FROM block WHERE kind = 0), 0), coalesce((SELECT max(at) FROM write), 0))");
    if (!found) return std::unexpected(found.error());
    return Time{*found};
}

std::int64_t RecordFile::bytes() {
    std::int64_t out = 0;
    std::error_code none;
    for (const char* suffix : {"", "-wal"}) {
        const auto size = std::filesystem::file_size(path_ + suffix, none);
        if (!none) out += static_cast<std::int64_t>(size);
    }
    return out;
}

void RecordFile::begin() {
    if (in_transaction_ || !fault_.empty()) return;
    if (auto begun = db_.run("BEGIN IMMEDIATE"); !begun)
        fault_ = begun.error().message;
    else
        in_transaction_ = true;
}

Statement* RecordFile::prepared(const char* sql) {
    begin();
    if (!fault_.empty()) return nullptr;
    const auto known = statements_.find(sql);
    if (known != statements_.end()) return &known->second;
    auto made = db_.prepare(sql);
    if (!made) {
        fault_ = made.error().message;
        return nullptr;
    }
    return &statements_.emplace(sql, std::move(*made)).first->second;
}

void RecordFile::finish(Statement& statement) {
    if (auto done = statement.run(); !done) fault_ = done.error().message;
}

Result<void> RecordFile::commit() {
    if (fault_.empty() && in_transaction_) {
        if (auto done = db_.run("COMMIT"); !done) fault_ = done.error().message;
        in_transaction_ = false;
    }
    if (!fault_.empty()) return fail(fault_);
    return {};
}

std::int64_t RecordFile::name(const std::string& text) {
    if (text.empty()) return 0;
    if (const auto known = names_.find(text); known != names_.end()) return known->second;
    put("INSERT INTO name(text) VALUES(?)", text);
    if (names_.size() >= kMostNames) names_.clear();
    names_.emplace(text, last_row());
    return last_row();
}

}  // namespace reprieve
