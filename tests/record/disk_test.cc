// A disk that is full, slow or gone never stops the loop, and the record says what it does not know.
#include <atomic>

#include "recorded_story.h"

namespace reprieve {
namespace {

std::string told_json(const std::string& name, const std::string& label) {
    return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name + R"(","namespace":"default","uid":"u-)" +
           name + R"(","labels":{"l":")" + label + R"("}},"spec":{"containers":[{"name":"c"}]}})";
}

FactItem pod_fact(std::int64_t second, const std::string& name, const std::string& more = {}) {
    auto text = std::make_shared<FactText>();
    text->api_version = "v1";
    text->kind = "Pod";
    text->json = told_json(name, more);
    return {
        .at = {second * 1'000'000}, .key = "Pod default/" + name, .text = text, .pod = PodSight{.uid = "u-" + name}};
}

TEST(FullDisk, StopsRecordingAndNothingElse) {
    const Folder folder;
    std::vector<std::string> warnings;
    RecordOptions record{.folder = folder.path()};
    record.most_pages = [] { return std::int64_t{20}; };  // less than the tables take
    record.warn = [&](const std::string& what) { warnings.push_back(what); };
    const StoryEnd end = tell_story({.yaml = crowded_world(1) + std::string(), .record = record});
    EXPECT_GT(end.cycles, 0);
    EXPECT_FALSE(end.counts.recording);
    EXPECT_TRUE(record_files(folder.path()).empty()) << "no file is left that was not even begun";
    ASSERT_FALSE(warnings.empty());
    EXPECT_NE(warnings.front().find("recording has stopped"), std::string::npos);
    EXPECT_NE(warnings.front().find("full"), std::string::npos) << warnings.front();
}

TEST(FullDisk, LeavesAMarkOnceThereIsRoomAgain) {
    const Folder folder;
    std::atomic<std::int64_t> pages = 0;
    RecordOptions options{.folder = folder.path(), .version = "test"};
    options.retry = std::chrono::milliseconds(5);
    options.most_pages = [&] { return pages.load(); };
    auto opened = Recorder::open(options);
    ASSERT_TRUE(opened.has_value());
    Recorder& recorder = **opened;
    constexpr std::int64_t kNoon = 1'772'452'800;
    recorder.put(pod_fact(kNoon, "a"));
    recorder.put(ReadyItem{.at = {kNoon * 1'000'000}});
    recorder.flush();
    EXPECT_TRUE(recorder.counts().recording);

    // The file may not grow any more: the limit is read when it is opened again, after the day has ended.
    pages = 50;
    const std::int64_t tomorrow = kNoon + 24 * 3600;
    for (int i = 0; i < 3000; ++i) {
        std::string noise;
        std::mt19937 dice(static_cast<std::uint32_t>(i));
        for (int n = 0; n < 40; ++n)
            noise += std::to_string(dice());
        recorder.put(pod_fact(tomorrow, "b" + std::to_string(i), noise));
    }
    recorder.flush();
    EXPECT_FALSE(recorder.counts().recording);

    pages = 0;
    recorder.put(pod_fact(tomorrow + 60, "c"));
    while (!recorder.counts().recording)
        recorder.flush();
    recorder.put(CycleItem{.at = {(tomorrow + 61) * 1'000'000}});
    recorder.flush();
    EXPECT_TRUE(recorder.counts().recording);
    EXPECT_GE(recorder.counts().gaps, 1);
    recorder.close();

    auto reader = RecordReader::open(folder.path());
    ASSERT_TRUE(reader.has_value()) << reader.error().message;
    const std::vector<RecordGap> gaps = (*reader)->gaps();
    ASSERT_FALSE(gaps.empty());
    EXPECT_NE(gaps.front().why.find("full"), std::string::npos) << gaps.front().why;
    const auto cycle = (*reader)->cycle_at({INT64_MAX});
    ASSERT_TRUE(cycle.has_value());
    const auto world = (*reader)->world(*cycle);
    ASSERT_TRUE(world.has_value()) << world.error().message;
    EXPECT_EQ(world->size(), 3002U) << "what came while nothing was written is in the keyframe";
}

TEST(SlowDisk, DropsWhatNewerFactsReplace) {
    const Folder folder;
    RecordOptions options{.folder = folder.path(), .version = "test"};
    options.most_waiting = 4096;  // less than ten pods
    options.retry = std::chrono::milliseconds(5);
    auto opened = Recorder::open(options);
    ASSERT_TRUE(opened.has_value());
    Recorder& recorder = **opened;
    constexpr std::int64_t kNoon = 1'772'452'800;
    recorder.put(ReadyItem{.at = {kNoon * 1'000'000}});
    for (int i = 0; i < 20'000; ++i)
        recorder.put(pod_fact(kNoon + 1, "p" + std::to_string(i % 7), std::to_string(i)));
    do
        recorder.flush();
    while (!recorder.counts().recording);
    recorder.put(CycleItem{.at = {(kNoon + 2) * 1'000'000}});
    recorder.flush();
    recorder.close();
    auto reader = RecordReader::open(folder.path());
    ASSERT_TRUE(reader.has_value()) << reader.error().message;
    const auto cycle = (*reader)->cycle_at({INT64_MAX});
    ASSERT_TRUE(cycle.has_value());
    const auto world = (*reader)->world(*cycle);
    ASSERT_TRUE(world.has_value());
    ASSERT_EQ(world->size(), 7U);
    for (int i = 0; i < 7; ++i) {
        const std::string name = "p" + std::to_string(i);
        const int last = 19'999 - (19'999 - i) % 7;
        EXPECT_NE(world->at("Pod default/" + name).json.find("\"" + std::to_string(last) + "\""), std::string::npos)
            << name << " is as it was told last";
    }
}

TEST(Folders, ThatCannotBeWrittenToAreAnErrorAtTheStart) {
    EXPECT_FALSE(Recorder::open({.folder = "/proc/nowhere/record"}).has_value());
}

TEST(Retention, DeletesWhatIsTooOldOrTooMuchButNeverTheFileInUse) {
    const Folder folder;
    const auto day = [](std::int64_t n) { return kLoopStart + Duration::of_seconds(n * 24 * 3600); };
    for (std::int64_t n = 0; n < 4; ++n) {
        RecordOptions record{.folder = folder.path()};
        record.keep.age = Duration::of_seconds(24 * 3600);
        tell_story({.yaml = crowded_world(2), .start = day(n), .record = record});
    }
    const std::vector<RecordPath> files = record_files(folder.path());
    ASSERT_EQ(files.size(), 2U);
    EXPECT_EQ(files.back().day, "2026-03-05");
    expect_identical(replay_of(folder.path()));
    EXPECT_EQ(delete_old_files(folder.path(), files.back().path, {.age = {}, .bytes = 1}, day(4)).size(), 1U);
    EXPECT_EQ(record_files(folder.path()).size(), 1U);
}

TEST(Sizes, AreReadAsPeopleWriteThem) {
    EXPECT_EQ(*parse_bytes("20GiB"), std::int64_t{20} << 30U);
    EXPECT_EQ(*parse_bytes("500Mi"), std::int64_t{500} << 20U);
    EXPECT_EQ(*parse_bytes("1000"), 1000);
    EXPECT_FALSE(parse_bytes("much").has_value());
    EXPECT_FALSE(parse_bytes("0").has_value());
    EXPECT_EQ(parse_days("7d")->us, std::int64_t{7} * 24 * 3600 * 1'000'000);
    EXPECT_EQ(parse_days("36h")->us, std::int64_t{36} * 3600 * 1'000'000);
    EXPECT_FALSE(parse_days("d").has_value());
    EXPECT_FALSE(parse_days("-1h").has_value());
}

}  // namespace
}  // namespace reprieve
