// Records that are truncated, foreign, newer or half deleted: one clear sentence, and whatever can still be read.
#include <fstream>

#include "record/sqlite.h"
#include "recorded_story.h"

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
    EXPECT_NE(opened.error().message.find("format 99 by version test; this program reads formats up to 1"),
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

TEST(Damage, ABlockThatWasChangedIsRecognised) {
    const Folder folder;
    tell_story({.yaml = crowded_world(1), .record = {.folder = folder.path()}});
    const std::string file = record_files(folder.path()).front().path;
    {
        auto db = Database::open(file, Database::Mode::kCreate);
        ASSERT_TRUE(db->run("UPDATE block SET body = substr(body, 1, length(body) - 3) || x'000000'").has_value());
    }
    auto reader = RecordReader::open(file);
    ASSERT_TRUE(reader.has_value());
    const auto replayed = replay(**reader, {});
    ASSERT_FALSE(replayed.has_value());
    EXPECT_NE(replayed.error().message.find("damaged"), std::string::npos) << replayed.error().message;
    EXPECT_FALSE((*reader)->decisions({}).empty()) << "what was decided is kept elsewhere";
}

}  // namespace
}  // namespace reprieve
