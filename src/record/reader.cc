#include "record/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ranges>
#include <utility>

#include "manifest/plan_json.h"
#include "record/blocks.h"
#include "record/reader_files.h"
#include "record/retention.h"
#include "record/schema.h"

namespace reprieve {
namespace {

std::string name_of(const std::string& path) { return std::filesystem::path(path).filename().string(); }

// What an index that is damaged keeps from being found can be found without it, only slower.
template <class Read>
Result<void> with_index_or_without(Read&& read) {
    if (Result<void> done = read(""); done) return done;
    return read("NOT INDEXED ");
}

}  // namespace

RecordReader::RecordReader() = default;
RecordReader::~RecordReader() = default;

void RecordReader::trouble(const std::string& sentence) {
    if (std::ranges::find(troubles_, sentence) != troubles_.end()) return;
    troubles_.push_back(sentence);
    if (teller_) teller_(sentence);
}

void RecordReader::tell_troubles(std::function<void(const std::string&)> teller) {
    teller_ = std::move(teller);
    for (const std::string& one : troubles_)
        teller_(one);
}

void RecordReader::inherit(const RecordReader& other) {
    const auto known = [](const RecordReader& reader, const std::string& one) {
        return std::ranges::find(reader.troubles_, one) != reader.troubles_.end();
    };
    teller_ = other.teller_;
    for (const std::string& one : troubles_) {
        if (teller_ && !known(other, one)) teller_(one);
    }
    for (const std::string& one : other.troubles_) {
        if (!known(*this, one)) troubles_.push_back(one);
    }
    for (const RecordGap& gap : other.lost_)
        lose(gap);
}

// Losses of one kind that touch are one.
void RecordReader::lose(const RecordGap& gap) {
    for (RecordGap& known : lost_) {
        if (known.why != gap.why || gap.from > known.to || gap.to < known.from) continue;
        known.from = std::min(known.from, gap.from);
        known.to = std::max(known.to, gap.to);
        return;
    }
    lost_.push_back(gap);
}

void RecordReader::lose(const File& file, const std::string& sentence, Time from, Time to) {
    trouble(sentence);
    lose({.from = from, .to = to, .why = fmt::format("{} is damaged or cut off", name_of(file.db.file()))});
}

// Cycles that follow each other are lost together.
void RecordReader::lose_cycle(const RecordedCycle& cycle, const std::string& sentence) {
    File& file = *files_.at(cycle.file);
    const bool follows = file.lost_cycle == cycle.id - 1;
    lose(file, sentence, follows ? file.lost_at : cycle.at, cycle.at);
    file.lost_cycle = cycle.id;
    file.lost_at = cycle.at;
}

// Each lies between those before and after it that can be read; where there is none, its day says when.
void RecordReader::note_unread(const std::vector<RecordPath>& unread) {
    const auto key = [](const RecordPath& one) { return std::pair(one.day, one.part); };
    for (const RecordPath& one : unread) {
        const auto day = parse_time(one.day + "T00:00:00Z");
        RecordGap gap{.from = day.value_or(from_), .to = day ? *day + Duration{kRecordDayUs} : to_, .why = {}};
        for (const auto& file : files_) {
            if (key(file->path) < key(one)) gap.from = file->to;
        }
        for (const auto& file : files_ | std::views::reverse) {
            if (key(file->path) > key(one)) gap.to = file->from;
        }
        gap.from = std::min(gap.from, gap.to);
        gap.why = fmt::format("{} cannot be read", name_of(one.path));
        lose(gap);
    }
}

Result<std::unique_ptr<RecordReader>> RecordReader::open(const std::string& path) {
    std::error_code none;
    if (!std::filesystem::exists(path, none)) return fail(fmt::format("{}: there is no such record", path));
    std::vector<RecordPath> paths;
    if (std::filesystem::is_directory(path, none)) {
        paths = record_files(path);
        if (paths.empty()) return fail(fmt::format("{}: holds no record (no record-DATE.db)", path));
    } else {
        paths.push_back({.path = path, .day = {}});
    }
    std::unique_ptr<RecordReader> out(new RecordReader());
    std::vector<RecordPath> unread;
    for (const RecordPath& one : paths) {
        auto file = std::make_unique<File>();
        file->path = one;
        if (auto opened = out->open_file(*file); !opened) {
            out->trouble(opened.error().message);
            unread.push_back(one);
            continue;
        }
        out->files_.push_back(std::move(file));
    }
    const bool planned =
        std::ranges::any_of(out->files_, [](auto& file) { return file->suspect || file->has_cycles(); });
    if (!planned)
        return fail(out->troubles_.empty() ? nothing_left_sentence(paths.back().path) : out->troubles_.front());
    std::ranges::stable_sort(out->files_, {}, [](const auto& file) { return file->first_seq; });
    for (std::size_t i = 0; i < out->files_.size(); ++i)
        out->files_[i]->index = i;
    out->from_ = out->files_.front()->from;
    for (const auto& file : out->files_)
        out->to_ = std::max(out->to_, file->to);
    out->note_unread(unread);
    return out;
}

Result<void> RecordReader::open_file(File& file) {
    auto db = Database::open(file.path.path, Database::Mode::kRead);
    if (!db) return std::unexpected(db.error());
    file.db = std::move(*db);
    const std::string damage = damage_sentence(file.path.path);
    // The format's number may be what is damaged: then the rest is read as if it were ours.
    const auto fine = check_schema(file.db);
    if (!fine && fine.error().message != damage) return fine;
    const Result<void> looked = file.db.is_damaged() || !fine ? fail(damage) : file.look();
    if (!looked) {
        trouble(looked.error().message);
        file.suspect = true;
        file.look_at_the_rest();
    }
    if (file.first_seq == 0) return fail(file.suspect ? looked.error().message : nothing_left_sentence(file.path.path));
    return {};
}

const char* RecordReader::File::if_there(const char* column) {
    if (!older) {
        const auto format = db.number("SELECT value FROM meta WHERE key = 'format'");
        older = format && *format < kRecordFormat;
    }
    return *older ? "NULL" : column;
}

std::vector<RecordGap> RecordReader::gaps() {
    std::vector<RecordGap> out;
    const File* before = nullptr;
    each_file([&](File& file) -> Result<void> {
        // What is lost of it nobody has looked for yet.
        if (file.suspect && !file.walked) lose(file, damage_sentence(file.path.path), file.from, file.to);
        const bool unsure = before && (before->suspect || file.suspect);
        const File* const last = std::exchange(before, &file);
        bool told = unsure;
        auto rows = file.db.prepare("SELECT since, until, why FROM gap ORDER BY since");
        if (!rows) return std::unexpected(rows.error());
        while (true) {
            const auto row = rows->step();
            if (!row) return std::unexpected(row.error());
            if (!*row) break;
            out.push_back({.from = {rows->number(0)}, .to = {rows->number(1)}, .why = rows->text(2)});
            told = told || out.back().to == file.from;
        }
        if (!last || told || last->last_seq + 1 >= file.first_seq) return {};
        const bool unread = std::ranges::any_of(
            lost_, [&](const RecordGap& gap) { return gap.from == last->to && gap.to == file.from; });
        if (!unread) out.push_back({.from = last->to, .to = file.from, .why = "files are missing"});
        return {};
    });
    out.insert(out.end(), lost_.begin(), lost_.end());
    std::ranges::stable_sort(out, {}, &RecordGap::from);
    return out;
}

std::vector<RecordedCycle> RecordReader::cycles(Time from, Time to, std::size_t most) {
    std::vector<RecordedCycle> out;
    each_file([&](File& file) -> Result<void> {
        if (file.to < from || file.from > to) return {};
        const std::size_t before = out.size();
        return with_index_or_without([&](const char* how) -> Result<void> {
            out.resize(before);
            auto rows = file.db.prepare(fmt::format("{}{}WHERE at BETWEEN ? AND ? ORDER BY id", kCycleColumns, how));
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
        return with_index_or_without([&](const char* how) -> Result<void> {
            auto rows =
                file.db.prepare(fmt::format("{}{}WHERE at <= ? ORDER BY at DESC, id DESC LIMIT 1", kCycleColumns, how));
            if (!rows) return std::unexpected(rows.error());
            const auto row = rows->bind(at.us).step();
            if (!row) return std::unexpected(row.error());
            if (*row && (!out || rows->number(1) >= out->at.us)) out = file.cycle_of(*rows);
            return {};
        });
    });
    return out;
}

Result<std::string> RecordReader::plan_from(File& file, std::int64_t number) {
    auto rows = file.db.prepare(fmt::format(
        "SELECT first, raw, body FROM {} WHERE first <= ? ORDER BY first DESC LIMIT 1", file.plan_blocks()));
    if (!rows) return std::unexpected(rows.error());
    const auto row = rows->bind(number).step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return fail(damage_sentence(file.db.file()));
    auto text = unpack_block(rows->blob(2), static_cast<std::size_t>(rows->number(1)));
    if (!text) return fail(damage_sentence(file.db.file()));
    std::int64_t at = rows->number(0);
    std::string out;
    each_line(*text, [&](std::string_view line) {
        if (at++ == number) out = line;
    });
    if (out.empty()) return fail(damage_sentence(file.db.file()));
    return out;
}

Result<std::string> RecordReader::plan_text(const RecordedCycle& cycle) {
    auto text = plan_from(*files_.at(cycle.file), cycle.plan);
    if (!text) lose_cycle(cycle, text.error().message);
    return text;
}

Result<Plan> RecordReader::plan(const RecordedCycle& cycle) {
    const auto text = plan_text(cycle);
    if (!text) return std::unexpected(text.error());
    auto plan = plan_from_json(*text);
    if (!plan) {
        lose_cycle(cycle,
                   fmt::format("{}: plan {}: {}", files_.at(cycle.file)->db.file(), cycle.plan, plan.error().message));
        return fail(troubles_.back());
    }
    plan->id = cycle.plan_id;
    plan->now = cycle.at;
    return plan;
}

Result<std::string> RecordReader::config_text(const RecordedCycle& cycle) {
    File& file = *files_.at(cycle.file);
    const auto read = [&]() -> Result<std::string> {
        if (cycle.config == kNoConfig) return fail(damage_sentence(file.db.file()));
        auto rows = file.db.prepare("SELECT body FROM config WHERE id = ?");
        if (!rows) return std::unexpected(rows.error());
        const auto row = rows->bind(cycle.config).step();
        if (!row) return std::unexpected(row.error());
        return *row ? std::string(rows->blob(0)) : std::string();
    };
    auto text = read();
    if (!text) lose_cycle(cycle, text.error().message);
    return text;
}

// The parts of a keyframe.
Result<void> RecordReader::read_block(File& file, std::int64_t kind, std::int64_t first, RecordedWorld& world) {
    auto rows = file.db.prepare(
        fmt::format("SELECT raw, body FROM {} WHERE kind = ? AND first = ? ORDER BY id", file.blocks()));
    if (!rows) return std::unexpected(rows.error());
    rows->bind(kind).bind(first);
    std::string unescaped;
    while (true) {
        const auto row = rows->step();
        if (!row) return std::unexpected(row.error());
        if (!*row) return {};
        const auto text = unpack_block(rows->blob(1), static_cast<std::size_t>(rows->number(0)));
        if (!text) return fail(damage_sentence(file.db.file()));
        bool fine = true;
        each_line(*text, [&](std::string_view line) {
            const auto change = parse_line(line, unescaped);
            fine = fine && change && apply_change(*change, world);
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
    auto rows = file.db.prepare(fmt::format(
        "SELECT first, raw, body FROM {} WHERE kind = 0 AND first > ? AND first <= ? ORDER BY first", file.blocks()));
    if (!rows) return std::unexpected(rows.error());
    rows->bind(start).bind(cycle.seq);
    std::string unescaped;
    while (true) {
        const auto row = rows->step();
        if (!row) return std::unexpected(row.error());
        if (!*row) break;
        const auto text = unpack_block(rows->blob(2), static_cast<std::size_t>(rows->number(1)));
        if (!text) return fail(damage_sentence(file.db.file()));
        std::int64_t seq = rows->number(0);
        bool fine = true;
        each_line(*text, [&](std::string_view line) {
            if (seq++ > cycle.seq) return;
            if (const auto change = parse_line(line, unescaped)) fine = apply_change(*change, world) && fine;
        });
        if (!fine) return fail(damage_sentence(file.db.file()));
    }
    return world;
}

}  // namespace reprieve
