#include "record/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "manifest/plan_json.h"
#include "record/blocks.h"
#include "record/reader_files.h"
#include "record/retention.h"
#include "record/schema.h"

namespace reprieve {

RecordReader::RecordReader() = default;
RecordReader::~RecordReader() = default;

void RecordReader::trouble(const std::string& sentence) {
    if (std::ranges::find(troubles_, sentence) == troubles_.end()) troubles_.push_back(sentence);
}

Result<std::unique_ptr<RecordReader>> RecordReader::open(const std::string& path) {
    std::error_code none;
    if (!std::filesystem::exists(path, none)) return fail(fmt::format("{}: there is no such record", path));
    std::vector<std::string> paths;
    if (std::filesystem::is_directory(path, none)) {
        for (const RecordPath& file : record_files(path))
            paths.push_back(file.path);
        if (paths.empty()) return fail(fmt::format("{}: holds no record (no record-DATE.db)", path));
    } else {
        paths.push_back(path);
    }
    std::unique_ptr<RecordReader> out(new RecordReader());
    for (const std::string& one : paths) {
        auto file = std::make_unique<File>();
        const auto opened = [&]() -> Result<void> {
            auto db = Database::open(one, Database::Mode::kRead);
            if (!db) return std::unexpected(db.error());
            file->db = std::move(*db);
            if (auto fine = check_schema(file->db); !fine) return fine;
            if (!file->db.is_damaged()) return file->look();
            out->trouble(fmt::format("{}: is damaged or cut off; only what is left of it can be read", one));
            file->look_at_the_rest();
            return {};
        }();
        if (!opened) {
            out->trouble(opened.error().message);
            continue;
        }
        if (file->first_seq == 0) continue;  // begun, and nothing in it yet
        out->files_.push_back(std::move(file));
    }
    if (out->files_.empty()) {
        if (!out->troubles_.empty()) return fail(out->troubles_.front());
        return fail(fmt::format("{}: nothing is recorded yet", path));
    }
    std::ranges::stable_sort(out->files_, {}, [](const auto& file) { return file->first_seq; });
    for (std::size_t i = 0; i < out->files_.size(); ++i)
        out->files_[i]->index = i;
    out->from_ = out->files_.front()->from;
    for (const auto& file : out->files_)
        out->to_ = std::max(out->to_, file->to);
    return out;
}

std::vector<RecordGap> RecordReader::gaps() {
    std::vector<RecordGap> out;
    const File* before = nullptr;
    each_file([&](File& file) -> Result<void> {
        auto rows = file.db.prepare("SELECT since, until, why FROM gap ORDER BY since");
        if (!rows) return std::unexpected(rows.error());
        bool told = false;
        while (true) {
            const auto row = rows->step();
            if (!row) return std::unexpected(row.error());
            if (!*row) break;
            out.push_back({.from = {rows->number(0)}, .to = {rows->number(1)}, .why = rows->text(2)});
            told = told || out.back().to == file.from;
        }
        if (before && before->last_seq + 1 < file.first_seq && !told)
            out.push_back({.from = before->to, .to = file.from, .why = "files are missing"});
        before = &file;
        return {};
    });
    std::ranges::stable_sort(out, {}, &RecordGap::from);
    return out;
}

std::vector<RecordedCycle> RecordReader::cycles(Time from, Time to, std::size_t most) {
    std::vector<RecordedCycle> out;
    each_file([&](File& file) -> Result<void> {
        if (file.to < from || file.from > to) return {};
        auto rows = file.db.prepare(std::string(kCycleColumns) + "WHERE at BETWEEN ? AND ? ORDER BY id");
        if (!rows) return std::unexpected(rows.error());
        rows->bind(from.us).bind(to.us);
        while (most == 0 || out.size() < most) {
            const auto row = rows->step();
            if (!row) return std::unexpected(row.error());
            if (!*row) break;
            out.push_back(file.cycle_of(*rows));
        }
        return {};
    });
    return out;
}

std::optional<RecordedCycle> RecordReader::cycle(std::int64_t id) {
    std::optional<RecordedCycle> out;
    each_file([&](File& file) -> Result<void> {
        if (out) return {};
        auto rows = file.db.prepare(std::string(kCycleColumns) + "WHERE id = ?");
        if (!rows) return std::unexpected(rows.error());
        const auto row = rows->bind(id).step();
        if (!row) return std::unexpected(row.error());
        if (*row) out = file.cycle_of(*rows);
        return {};
    });
    return out;
}

std::optional<RecordedCycle> RecordReader::cycle_at(Time at) {
    std::optional<RecordedCycle> out;
    each_file([&](File& file) -> Result<void> {
        auto rows = file.db.prepare(std::string(kCycleColumns) + "WHERE at <= ? ORDER BY at DESC, id DESC LIMIT 1");
        if (!rows) return std::unexpected(rows.error());
        const auto row = rows->bind(at.us).step();
        if (!row) return std::unexpected(row.error());
        if (*row && (!out || rows->number(1) >= out->at.us)) out = file.cycle_of(*rows);
        return {};
    });
    return out;
}

Result<std::string> RecordReader::plan_from(File& file, std::int64_t number) {
    auto rows = file.db.prepare("SELECT first, raw, body FROM plan_block WHERE first <= ? ORDER BY first DESC LIMIT 1");
    if (!rows) return std::unexpected(rows.error());
    const auto row = rows->bind(number).step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return fail(fmt::format("{}: plan {} is missing", file.db.file(), number));
    auto text = unpack_block(rows->blob(2), static_cast<std::size_t>(rows->number(1)));
    if (!text) return fail(fmt::format("{}: {}", file.db.file(), text.error().message));
    std::int64_t at = rows->number(0);
    std::string out;
    each_line(*text, [&](std::string_view line) {
        if (at++ == number) out = line;
    });
    if (out.empty()) return fail(fmt::format("{}: plan {} is missing", file.db.file(), number));
    return out;
}

Result<std::string> RecordReader::plan_text(const RecordedCycle& cycle) {
    return plan_from(*files_.at(cycle.file), cycle.plan);
}

Result<Plan> RecordReader::plan(const RecordedCycle& cycle) {
    const auto text = plan_text(cycle);
    if (!text) return std::unexpected(text.error());
    auto plan = plan_from_json(*text);
    if (!plan)
        return fail(fmt::format("{}: plan {}: {}", files_.at(cycle.file)->db.file(), cycle.plan, plan.error().message));
    plan->id = cycle.plan_id;
    plan->now = cycle.at;
    return plan;
}

Result<std::string> RecordReader::config_text(const RecordedCycle& cycle) {
    auto rows = files_.at(cycle.file)->db.prepare("SELECT body FROM config WHERE id = ?");
    if (!rows) return std::unexpected(rows.error());
    const auto row = rows->bind(cycle.config).step();
    if (!row) return std::unexpected(row.error());
    return *row ? std::string(rows->blob(0)) : std::string();
}

// The parts of a keyframe.
Result<void> RecordReader::read_block(File& file, std::int64_t kind, std::int64_t first, RecordedWorld& world) {
    auto rows = file.db.prepare("SELECT raw, body FROM block WHERE kind = ? AND first = ? ORDER BY id");
    if (!rows) return std::unexpected(rows.error());
    rows->bind(kind).bind(first);
    std::string unescaped;
    while (true) {
        const auto row = rows->step();
        if (!row) return std::unexpected(row.error());
        if (!*row) return {};
        const auto text = unpack_block(rows->blob(1), static_cast<std::size_t>(rows->number(0)));
        if (!text) return fail(fmt::format("{}: {}", file.db.file(), text.error().message));
        bool fine = true;
        each_line(*text, [&](std::string_view line) {
            const auto change = parse_line(line, unescaped);
            if (change)
                apply_change(*change, world);
            else
                fine = false;
        });
        if (!fine) return fail(fmt::format("{}: a keyframe holds something else than facts", file.db.file()));
    }
}

Result<RecordedWorld> RecordReader::world(const RecordedCycle& cycle) {
    File& file = *files_.at(cycle.file);
    auto key = file.db.prepare("SELECT max(seq) FROM keyframe WHERE seq <= ?");
    if (!key) return std::unexpected(key.error());
    const auto found = key->bind(cycle.seq).step();
    if (!found) return std::unexpected(found.error());
    const std::int64_t start = *found ? key->number(0) : 0;
    if (start == 0) return fail(fmt::format("{}: cycle {} has no keyframe before it", file.db.file(), cycle.id));
    RecordedWorld world;
    if (auto read = read_block(file, 1, start, world); !read) return std::unexpected(read.error());
    auto rows = file.db.prepare(
        "SELECT first, raw, body FROM block WHERE kind = 0 AND first > ? AND first <= ? ORDER BY first");
    if (!rows) return std::unexpected(rows.error());
    rows->bind(start).bind(cycle.seq);
    std::string unescaped;
    while (true) {
        const auto row = rows->step();
        if (!row) return std::unexpected(row.error());
        if (!*row) break;
        const auto text = unpack_block(rows->blob(2), static_cast<std::size_t>(rows->number(1)));
        if (!text) return fail(fmt::format("{}: {}", file.db.file(), text.error().message));
        std::int64_t seq = rows->number(0);
        each_line(*text, [&](std::string_view line) {
            if (seq++ > cycle.seq) return;
            if (const auto change = parse_line(line, unescaped)) apply_change(*change, world);
        });
    }
    return world;
}

}  // namespace reprieve
