// Records that are truncated, foreign, newer or half deleted: one clear sentence, and whatever can still be read.
#include <fstream>

#include "record/export.h"
#include "record/sqlite.h"
#include "recorded_story.h"
#include "referee/record_referee.h"

namespace reprieve {
namespace {

namespace fs = std::filesystem;

// Three days.
void tell_three_days(const std::string& folder) {
    for (std::int64_t day = 0; day < 3; ++day)
        tell_story({.yaml = crowded_world(11),
                    .start = kLoopStart + Duration::of_seconds(day * 24 * 3600),
                    .record = {.folder = folder}});
}

TEST(Damage, NothingThere) {
    const auto missing = RecordReader::open("/nowhere/at/all");
    ASSERT_FALSE(missing.has_value());
    EXPECT_EQ(missing.error().message, "/nowhere/at/all: there is no such record");
    const Folder empty;
    const auto none = RecordReader::open(empty.path());
    ASSERT_FALSE(none.has_value());
    EXPECT_NE(none.error().message.find("holds no record"), std::string::npos);
}

TEST(Damage, ForeignFiles) {
    const Folder folder;
    const std::string text = folder.path() + "/record-2026-03-02.db";
    std::ofstream(text) << std::string(5000, 'x');
    const auto garbage = RecordReader::open(text);
    ASSERT_FALSE(garbage.has_value());
    EXPECT_EQ(garbage.error().message, text + ": is not a record of Reprieve");
    const std::string other = folder.path() + "/other.db";
    {
        auto db = Database::open(other, Database::Mode::kCreate);
        ASSERT_TRUE(db.has_value());
        ASSERT_TRUE(db->run("CREATE TABLE t(x)").has_value());
    }
    const auto opened = RecordReader::open(other);
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().message, other + ": is not a record of Reprieve");
}

// What files of the format before this one lack.
void make_older(const std::string& file) {
    auto db = Database::open(file, Database::Mode::kCreate);
    ASSERT_TRUE(db.has_value());
    std::string views;
    for (const std::string view : {"decisions", "evictions"}) {
        std::string sql = *db->text("SELECT sql FROM sqlite_schema WHERE name = '" + view + "'");
        for (const std::string gone : {" d.priority AS priority,", "\n    d.lost AS lost,", " q.text AS queue,"}) {
            const bool of_decision = gone.starts_with(" q.") && view == "decisions";
            if (const auto at = sql.find(gone); at != std::string::npos && !of_decision) sql.erase(at, gone.size());
        }
        if (const auto at = sql.find(" LEFT JOIN name q ON q.id = e.queue"); at != std::string::npos) sql.erase(at, 35);
        views += sql + ";";
    }
    const auto done = db->run(
        "DROP VIEW decisions; DROP VIEW evictions; ALTER TABLE decision DROP COLUMN priority; ALTER TABLE decision "
        "DROP "
        "COLUMN lost; ALTER TABLE eviction DROP COLUMN queue; ALTER TABLE pod DROP COLUMN controller; DROP TABLE "
        "queue_use; UPDATE meta SET value = 1 WHERE key = 'format';" +
        views);
    ASSERT_TRUE(done.has_value()) << done.error().message;
}

TEST(Damage, OlderFormatsAreReadAndNewOnesGoOnBesideThem) {
    const Folder folder;
    tell_story({.yaml = crowded_world(11), .record = {.folder = folder.path()}});
    make_older(record_files(folder.path()).front().path);
    std::size_t before = 0;
    {
        const auto reader = RecordReader::open(folder.path());
        ASSERT_TRUE(reader.has_value()) << reader.error().message;
        before = (*reader)->decisions({}).size();
        EXPECT_GT(before, 3U);
        EXPECT_FALSE((*reader)->decisions({}).front().priority.has_value());
        EXPECT_FALSE((*reader)->lives({}).empty());
        EXPECT_TRUE((*reader)->use((*reader)->to(), 10).empty());
        EXPECT_TRUE((*reader)->troubles().empty()) << (*reader)->troubles().front();
    }
    expect_identical(replay_of(folder.path()));
    // The same day, after the upgrade.
    tell_story({.yaml = crowded_world(12),
                .start = kLoopStart + Duration::of_seconds(6 * 3600),
                .record = {.folder = folder.path()}});
    EXPECT_EQ(record_files(folder.path()).size(), 2U);
    const auto reader = RecordReader::open(folder.path());
    ASSERT_TRUE(reader.has_value()) << reader.error().message;
    const auto all = (*reader)->decisions({});
    EXPECT_GT(all.size(), before);
    EXPECT_GT(all[before].cycle, all[before - 1].cycle) << "numbers go on";
    EXPECT_TRUE(all.back().priority.has_value());
}

TEST(Damage, NewerFormatsAreRefusedWithThatSentence) {
    const Folder folder;
    tell_story({.yaml = crowded_world(1), .record = {.folder = folder.path()}});
    const std::string file = record_files(folder.path()).front().path;
    {
        auto db = Database::open(file, Database::Mode::kCreate);
        ASSERT_TRUE(db->run("UPDATE meta SET value = 99 WHERE key = 'format'").has_value());
    }
    const auto opened = RecordReader::open(folder.path());
    ASSERT_FALSE(opened.has_value());
    EXPECT_NE(opened.error().message.find("format 99 by version test; this program reads formats up to 2"),
              std::string::npos)
        << opened.error().message;
    // A recorder leaves it alone and begins another file of the day.
    tell_story({.yaml = crowded_world(1), .record = {.folder = folder.path()}});
    EXPECT_EQ(record_files(folder.path()).size(), 2U);
    auto both = RecordReader::open(folder.path());
    ASSERT_TRUE(both.has_value()) << both.error().message;
    EXPECT_EQ((*both)->troubles().size(), 1U);
}

TEST(Damage, AMissingDayIsAGap) {
    const Folder folder;
    tell_three_days(folder.path());
    fs::remove(record_files(folder.path())[1].path);
    const ReplayReport report = replay_of(folder.path());
    expect_identical(report);
    EXPECT_FALSE(report.gaps.empty());
}

TEST(Damage, OfATruncatedFileTheOthersAreRead) {
    const Folder folder;
    tell_three_days(folder.path());
    const std::vector<RecordPath> files = record_files(folder.path());
    for (const double part : {0.9, 0.5, 0.1}) {
        fs::resize_file(files[1].path,
                        static_cast<std::uintmax_t>(static_cast<double>(fs::file_size(files[1].path)) * part));
        auto reader = RecordReader::open(folder.path());
        ASSERT_TRUE(reader.has_value()) << reader.error().message;
        const auto decisions = (*reader)->decisions({});
        bool first = false;
        bool last = false;
        for (const RecordedDecision& one : decisions) {
            first = first || one.at < kLoopStart + Duration::of_seconds(24 * 3600);
            last = last || one.at > kLoopStart + Duration::of_seconds(2 * 24 * 3600);
        }
        EXPECT_TRUE(first && last) << "the days before and after";
        EXPECT_EQ((*reader)->troubles().size(), 1U);
        EXPECT_NE((*reader)->troubles().front().find("record-2026-03-03.db"), std::string::npos);
    }
}

TEST(Damage, OfATruncatedFileItsOwnBeginningIsRead) {
    const Folder folder;
    tell_story({.yaml = crowded_world(11), .record = {.folder = folder.path()}});
    const std::string file = record_files(folder.path()).front().path;
    const auto whole = (*RecordReader::open(file))->decisions({}).size();
    ASSERT_GT(whole, 2U);
    const auto size = static_cast<double>(fs::file_size(file));
    std::size_t before = whole;
    std::size_t most = 0;
    for (const double part : {0.97, 0.9, 0.8, 0.6, 0.4, 0.2, 0.02}) {
        fs::resize_file(file, static_cast<std::uintmax_t>(size * part));
        auto reader = RecordReader::open(file);
        if (!reader) {
            EXPECT_NE(reader.error().message.find(file), std::string::npos) << reader.error().message;
            continue;
        }
        EXPECT_EQ((*reader)->troubles().front(), file + ": is damaged or cut off; only what is left of it can be read");
        const std::size_t left = (*reader)->decisions({}).size();
        EXPECT_LE(left, before) << part;
        before = left;
        most = std::max(most, left);
        static_cast<void>(replay(**reader, {}));  // an answer or an error, never an end
    }
    EXPECT_GT(most, 0U) << "something can be read of one that lost its end";
}

constexpr const char* kDamage = ": is damaged or cut off; only what is left of it can be read";

void change(const std::string& file, const char* sql) {
    auto db = Database::open(file, Database::Mode::kCreate);
    ASSERT_TRUE(db.has_value()) << db.error().message;
    const auto done = db->run(sql);
    ASSERT_TRUE(done.has_value()) << done.error().message;
}

void blank_page(const std::string& file, std::int64_t page) {
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp((page - 1) * 4096);
    out << std::string(4096, '\0');
}

// Of a table or an index.
std::int64_t root_page(const std::string& file, const std::string& name) {
    auto db = Database::open(file, Database::Mode::kRead);
    EXPECT_TRUE(db.has_value()) << db.error().message;
    const auto page = db->number("SELECT rootpage FROM sqlite_schema WHERE name = '" + name + "'");
    EXPECT_GT(page.value_or(0), 1) << name;
    return page.value_or(2);
}

std::unique_ptr<RecordReader> opened(const std::string& path) {
    auto reader = RecordReader::open(path);
    EXPECT_TRUE(reader.has_value()) << reader.error().message;
    return reader ? std::move(*reader) : nullptr;
}

constexpr const char* kBreakChanges =
    "UPDATE block SET body = substr(body, 1, length(body) - 3) || x'000000' WHERE kind = 0";

TEST(Damage, FromADamagedBlockToTheNextKeyframeNothingIsKnown) {
    const Folder folder;
    tell_three_days(folder.path());
    const std::vector<RecordPath> files = record_files(folder.path());
    const auto cycles = opened(folder.path())->cycles({}, {INT64_MAX});
    change(files[1].path, kBreakChanges);
    const auto reader = opened(folder.path());
    const auto report = replay(*reader, {});
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->different, 0);
    EXPECT_LT(report->cycles, std::ssize(cycles));
    EXPECT_GT(report->cycles, std::ssize(cycles) / 2) << "the days before and after";
    ASSERT_EQ(reader->troubles().size(), 1U);
    EXPECT_EQ(reader->troubles().front(), files[1].path + kDamage);
    const auto lost = std::ranges::find(report->gaps, "record-2026-03-03.db is damaged or cut off", &RecordGap::why);
    ASSERT_NE(lost, report->gaps.end());
    EXPECT_GE(lost->from, kLoopStart + Duration::of_seconds(24 * 3600));
    EXPECT_GT(lost->to, lost->from);
    EXPECT_LE(lost->to, kLoopStart + Duration::of_seconds(2 * 24 * 3600));
    EXPECT_FALSE(reader->decisions({}).empty()) << "what was decided is kept elsewhere";
}

TEST(Damage, OfADamagedKeyframeTheNextOneIsTaken) {
    const Folder folder;
    tell_three_days(folder.path());
    change(record_files(folder.path())[0].path, "UPDATE block SET body = x'00' WHERE kind = 1");
    const auto reader = opened(folder.path());
    const auto report = replay(*reader, {});
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_GT(report->cycles, 0);
    EXPECT_EQ(report->different, 0);
    EXPECT_EQ(report->gaps.front().from, reader->from());
    const auto verdicts = judge_record(*reader, {}, true);
    ASSERT_TRUE(verdicts.has_value()) << verdicts.error().message;
    EXPECT_FALSE(verdicts->verdicts.empty()) << "of the other days";
    EXPECT_FALSE(verdicts->complete);
    EXPECT_TRUE(export_perfetto(*reader, {}, {}).has_value());
    EXPECT_TRUE(export_swf(*reader, {}, {}).has_value());
}

TEST(Damage, CyclesWithoutTheirPlanAreAGap) {
    const Folder folder;
    tell_story({.yaml = crowded_world(11), .record = {.folder = folder.path()}});
    change(record_files(folder.path()).front().path, "UPDATE plan_block SET body = x'00'");
    const auto reader = opened(folder.path());
    const auto cycles = reader->cycles({}, {INT64_MAX});
    const auto report = replay(*reader, {});
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->cycles, 0);
    ASSERT_EQ(report->gaps.size(), 1U) << "one for cycles that follow each other";
    EXPECT_EQ(report->gaps.front().from, cycles.front().at);
    EXPECT_EQ(report->gaps.front().to, cycles.back().at);
    EXPECT_EQ(reader->troubles().size(), 1U);
}

// Whichever page is lost: what is told is as it was, and where something is left out, that is said.
TEST(Damage, OfEveryPageIsToldOrDoesNotMatter) {
    const Folder folder;
    tell_story({.files = {REPRIEVE_EXAMPLES "/run"}, .record = {.folder = folder.path()}});
    const std::string file = record_files(folder.path()).front().path;
    const auto whole = opened(file);
    const std::size_t decisions = whole->decisions({}).size();
    const std::int64_t cycles = std::ssize(whole->cycles({}, {INT64_MAX}));
    const auto pages = static_cast<std::int64_t>(fs::file_size(file)) / 4096;
    int noticed = 0;
    for (std::int64_t page = 2; page <= pages; ++page) {
        const std::string copy = folder.path() + "/copy.db";
        fs::copy_file(file, copy, fs::copy_options::overwrite_existing);
        blank_page(copy, page);
        auto reader = RecordReader::open(copy);
        if (!reader) {
            EXPECT_EQ(reader.error().message, copy + kDamage) << "page " << page;
            ++noticed;
            continue;
        }
        const std::size_t left = (*reader)->decisions({}).size();
        EXPECT_TRUE(left == decisions || !(*reader)->gaps().empty()) << "page " << page;
        const auto report = replay(**reader, {});
        ASSERT_TRUE(report.has_value()) << "page " << page << ": " << report.error().message;
        EXPECT_EQ(report->different, 0) << "page " << page;
        EXPECT_TRUE(report->cycles == cycles || !report->gaps.empty()) << "page " << page;
        if (left < decisions || report->cycles < cycles) {
            ASSERT_EQ((*reader)->troubles().size(), 1U) << "page " << page;
            EXPECT_EQ((*reader)->troubles().front(), copy + kDamage);
            ++noticed;
        }
        const auto verdicts = judge_record(**reader, {}, true);
        ASSERT_TRUE(verdicts.has_value()) << "page " << page << ": " << verdicts.error().message;
        EXPECT_TRUE(verdicts->all_fair()) << "page " << page;
    }
    EXPECT_GT(noticed, 5);
}

TEST(Damage, NamesThatAreLostDoNotTakeTheDecisionsAlong) {
    const Folder folder;
    tell_story({.files = {REPRIEVE_EXAMPLES "/run"}, .record = {.folder = folder.path()}});
    const std::string file = record_files(folder.path()).front().path;
    const auto before = opened(file)->decisions({});
    blank_page(file, root_page(file, "name"));
    const auto reader = opened(file);
    EXPECT_TRUE(reader->troubles().empty()) << "nobody has looked there yet";
    std::vector<std::string> told;
    reader->tell_troubles([&](const std::string& one) { told.push_back(one); });
    const auto after = reader->decisions({});
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
        EXPECT_EQ(after[i].victims, before[i].victims);
        EXPECT_EQ(after[i].placed, before[i].placed);
        EXPECT_TRUE(after[i].owner == before[i].owner || before[i].victims.empty()) << before[i].owner;
    }
    EXPECT_EQ(told, std::vector<std::string>{file + kDamage});
    EXPECT_EQ(reader->gaps().size(), 1U);
}

TEST(Damage, AnIndexThatIsLostCostsNothing) {
    const Folder folder;
    tell_story({.yaml = crowded_world(11), .record = {.folder = folder.path()}});
    const std::string file = record_files(folder.path()).front().path;
    const std::int64_t cycles = replay_of(file).cycles;
    for (const char* index : {"block_first", "plan_block_first"}) {
        blank_page(file, root_page(file, index));
        const ReplayReport report = replay_of(file);
        expect_identical(report);
        EXPECT_EQ(report.cycles, cycles) << index;
    }
}

TEST(Damage, CyclesAreFoundWithoutTheIndexOfTheirTimes) {
    const Folder folder;
    tell_story({.yaml = crowded_world(11), .record = {.folder = folder.path()}});
    const std::string file = record_files(folder.path()).front().path;
    const auto cycles = opened(file)->cycles({}, {INT64_MAX});
    blank_page(file, root_page(file, "cycle_at"));
    const auto reader = opened(file);
    EXPECT_EQ(reader->cycles({}, {INT64_MAX}).size(), cycles.size());
    const auto last = reader->cycle_at({INT64_MAX});
    ASSERT_TRUE(last.has_value());
    EXPECT_EQ(last->id, cycles.back().id);
    EXPECT_EQ(reader->troubles(), std::vector<std::string>{file + kDamage});
}

// A window opens the record again and again.
TEST(Damage, ANewReaderKnowsWhatTheOldOneFound) {
    const Folder folder;
    tell_story({.yaml = crowded_world(11), .record = {.folder = folder.path()}});
    change(record_files(folder.path()).front().path, kBreakChanges);
    const auto before = opened(folder.path());
    int told = 0;
    before->tell_troubles([&](const std::string&) { ++told; });
    ASSERT_TRUE(replay(*before, {}).has_value());
    EXPECT_EQ(told, 1);
    const auto after = opened(folder.path());
    EXPECT_TRUE(after->gaps().empty());
    after->inherit(*before);
    EXPECT_EQ(after->troubles(), before->troubles());
    EXPECT_EQ(after->gaps().size(), before->gaps().size());
    EXPECT_EQ(told, 1) << "nobody is told twice";
}

TEST(Damage, AFileThatLostItsLastPageIsToldOnce) {
    const Folder folder;
    tell_three_days(folder.path());
    const std::string file = record_files(folder.path())[1].path;
    fs::resize_file(file, fs::file_size(file) - 4096);
    const auto reader = opened(folder.path());
    const auto report = replay(*reader, {});
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_GT(report->cycles, 0);
    EXPECT_EQ(report->different, 0);
    EXPECT_FALSE(reader->decisions({}).empty());
    EXPECT_EQ(reader->troubles(), std::vector<std::string>{file + kDamage});
}

// A recorder that is killed leaves nearly everything in the -wal file.
TEST(Damage, WithoutTheWalOfAKilledRecorderNothingIsLeft) {
    const Folder folder;
    const Folder copies;
    std::string copy;
    tell_story({.yaml = crowded_world(5), .record = {.folder = folder.path()}}, [&](Recorder&) {
        const std::string file = record_files(folder.path()).front().path;
        copy = copies.path() + "/" + fs::path(file).filename().string();
        fs::copy_file(file, copy);
        fs::copy_file(file + "-wal", copy + "-wal");
    });
    EXPECT_FALSE(opened(copy)->decisions({}).empty()) << "with all of it";
    const auto whole = fs::file_size(copy + "-wal");
    for (const double part : {0.6, 0.3, 0.05, 0.0}) {
        fs::remove(copy + "-shm");
        fs::resize_file(copy + "-wal", static_cast<std::uintmax_t>(static_cast<double>(whole) * part));
        auto reader = RecordReader::open(copy);
        if (part > 0.1 && reader) {
            EXPECT_FALSE((*reader)->cycles({}, {INT64_MAX}).empty()) << part;
            continue;
        }
        ASSERT_FALSE(reader.has_value()) << part;
        EXPECT_EQ(reader.error().message,
                  copy +
                      ": holds nothing that can be read; it has only just begun, or the -wal file beside it is missing "
                      "or cut off");
    }
}

TEST(Damage, FilesThatCannotBeReadAreGaps) {
    const Folder folder;
    tell_three_days(folder.path());
    for (const char* day : {"2026-03-01", "2026-03-03", "2026-03-07"})
        std::ofstream(folder.path() + "/record-" + day + ".db") << std::string(5000, 'x');
    const auto reader = opened(folder.path());
    EXPECT_EQ(reader->troubles().size(), 3U);
    std::vector<RecordGap> gaps = reader->gaps();
    std::erase_if(gaps, [](const RecordGap& gap) { return !gap.why.ends_with(" cannot be read"); });
    ASSERT_EQ(gaps.size(), 3U);
    EXPECT_EQ(gaps[0].why, "record-2026-03-01.db cannot be read");
    EXPECT_EQ(format_time(gaps[0].from), "2026-03-01T00:00:00Z");
    EXPECT_EQ(gaps[0].to, reader->from());
    EXPECT_EQ(gaps[1].why, "record-2026-03-03.db cannot be read");
    EXPECT_GE(gaps[1].from, kLoopStart);
    EXPECT_LE(gaps[1].to, kLoopStart + Duration::of_seconds(2 * 24 * 3600));
    EXPECT_EQ(gaps[2].from, reader->to());
    EXPECT_EQ(format_time(gaps[2].to), "2026-03-08T00:00:00Z");
    for (const RecordGap& gap : reader->gaps())
        EXPECT_NE(gap.why, "files are missing") << "they are there, and cannot be read";
}

}  // namespace
}  // namespace reprieve
