// Whatever happened, planning every recorded cycle again gives the same bytes.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "record/ledger.h"
#include "record/rebuild.h"
#include "recorded_story.h"

namespace reprieve {
namespace {

constexpr Time kShortlyBeforeMidnight{std::int64_t{1'772'495'970} * 1'000'000};  // 2026-03-02T23:59:30Z

class RecordedStory : public testing::TestWithParam<std::uint32_t> {};

TEST_P(RecordedStory, IsPlannedAgainByteForByte) {
    const Folder folder;
    const std::uint32_t seed = GetParam();
    const StoryEnd end =
        tell_story({.yaml = crowded_world(seed),
                    .delays = {.seed = seed, .news = {seed % 4 * 700'000}, .answers = {seed % 3 * 400'000}},
                    .record = {.folder = folder.path()}});
    EXPECT_EQ(end.counts.cycles, end.cycles);
    const ReplayReport report = replay_of(folder.path());
    EXPECT_EQ(report.cycles, end.cycles);
    expect_identical(report);
}

INSTANTIATE_TEST_SUITE_P(Worlds, RecordedStory, testing::Range<std::uint32_t>(1, 41));

// Each cycle by itself: from the nearest keyframe, with the changes since.
TEST(RecordedCycles, CanBePlannedFromTheNearestKeyframe) {
    const Folder folder;
    const StoryEnd end = tell_story({.yaml = crowded_world(7),
                                     .start = kShortlyBeforeMidnight,
                                     .delays = {.seed = 7, .news = {900'000}, .answers = {300'000}},
                                     .record = {.folder = folder.path()}});
    EXPECT_EQ(record_files(folder.path()).size(), 2U) << "one file a day";
    auto reader = RecordReader::open(folder.path());
    ASSERT_TRUE(reader.has_value());
    EXPECT_TRUE((*reader)->gaps().empty());
    const auto cycles = (*reader)->cycles({}, {INT64_MAX});
    ASSERT_EQ(std::ssize(cycles), end.cycles);
    for (const RecordedCycle& cycle : cycles) {
        const auto config = config_of(**reader, cycle);
        ASSERT_TRUE(config.has_value());
        auto rebuilt = rebuild_at(**reader, cycle, *config);
        ASSERT_TRUE(rebuilt.has_value()) << rebuilt.error().message;
        const auto recorded = (*reader)->plan_text(cycle);
        ASSERT_TRUE(recorded.has_value()) << recorded.error().message;
        EXPECT_EQ(plan_body(plan_again((*rebuilt)->cluster(), *config, cycle.inputs)), *recorded)
            << "cycle " << cycle.id;
    }
    expect_identical(replay_of(folder.path()));
}

TEST(RecordedRuns, FollowEachOtherWithAMarkBetween) {
    const Folder folder;
    const StoryEnd first = tell_story({.yaml = crowded_world(3), .record = {.folder = folder.path()}});
    const StoryEnd second = tell_story({.yaml = crowded_world(4),
                                        .start = kLoopStart + Duration::of_seconds(7200),
                                        .record = {.folder = folder.path()}});
    EXPECT_EQ(record_files(folder.path()).size(), 1U);
    const ReplayReport report = replay_of(folder.path());
    EXPECT_EQ(report.cycles, first.cycles + second.cycles);
    expect_identical(report);
    ASSERT_EQ(report.gaps.size(), 1U);
    EXPECT_EQ(report.gaps.front().why, "nobody was recording");
}

TEST(RecordedRuns, SurviveAKill) {
    const Folder folder;
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        static_cast<void>(tell_story({.yaml = crowded_world(5), .record = {.folder = folder.path()}},
                                     [](Recorder&) { std::raise(SIGKILL); }));
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    expect_identical(replay_of(folder.path()));
    // And whoever comes after goes on in the same file.
    tell_story({.yaml = crowded_world(6),
                .start = kLoopStart + Duration::of_seconds(7200),
                .record = {.folder = folder.path()}});
    expect_identical(replay_of(folder.path()));
}

TEST(RecordedRuns, OfTheExample) {
    const Folder folder;
    const StoryEnd end = tell_story({.files = {REPRIEVE_EXAMPLES "/run"}, .record = {.folder = folder.path()}});
    const ReplayReport report = replay_of(folder.path());
    EXPECT_EQ(report.cycles, end.cycles);
    expect_identical(report);
}

// What was recorded does not depend on what it is compared with, and nothing is counted in every cycle that repeats it.
TEST(RecordedRuns, AreJudgedByTotalsOfWhatIsNew) {
    const Folder folder;
    tell_story({.files = {REPRIEVE_EXAMPLES "/run"}, .record = {.folder = folder.path()}});
    auto reader = RecordReader::open(folder.path());
    ASSERT_TRUE(reader.has_value()) << reader.error().message;
    std::int64_t evictions = 0;
    std::int64_t placements = 0;
    for (const RecordedDecision& one : (*reader)->decisions({})) {
        evictions += std::ssize(one.victims);
        placements += std::ssize(one.placed);
    }
    const auto usual = replay(**reader, {});
    auto config = running_config("actions: [{name: allocate}]", "patient.yaml");
    ASSERT_TRUE(config.has_value()) << config.error().message;
    const auto patient = replay(**reader, {.config = std::move(*config)});
    ASSERT_TRUE(usual.has_value() && patient.has_value());
    for (const ReplayReport* report : {&*usual, &*patient}) {
        EXPECT_EQ(report->recorded.evictions, evictions);
        EXPECT_EQ(report->recorded.placements, placements);
    }
    EXPECT_EQ(usual->replayed.placements, placements);
    EXPECT_GT(patient->different, 0);
    EXPECT_EQ(patient->replayed.evictions, 0);
    ASSERT_TRUE(patient->first.has_value());
    const std::string json = replay_to_json(*patient);
    EXPECT_NE(json.find("\"now\": \"" + format_time(patient->first->at) + "\""), std::string::npos);
    EXPECT_EQ(json.find("1970-"), std::string::npos);
}

// Where a cycle stops depends on the clock; a replay stops where it did.
TEST(RecordedRuns, ThatRanOutOfTimeStopAtTheSameDemands) {
    const Folder folder;
    std::string yaml = node_yaml("n0", 8) + node_yaml("n1", 8);
    for (int i = 0; i < 60; ++i)
        yaml += pod_yaml({.name = "wait-" + std::to_string(i), .priority = i % 7, .cpu = 1 + i % 3});
    tell_story({.yaml = yaml, .record = {.folder = folder.path()}, .cycle_budget = {20}, .cycles = 12});
    auto reader = RecordReader::open(folder.path());
    ASSERT_TRUE(reader.has_value()) << reader.error().message;
    const auto cycles = (*reader)->cycles({}, {INT64_MAX});
    EXPECT_TRUE(std::ranges::any_of(cycles, [](const RecordedCycle& one) { return one.inputs.reached >= 0; }));
    EXPECT_TRUE(std::ranges::any_of(cycles, [](const RecordedCycle& one) { return !one.inputs.first.empty(); }));
    expect_identical(replay_of(folder.path()));
}

TEST(PlanningAgain, StopsWhereTheCycleStopped) {
    Rebuild rebuild{SchedulerConfig{}};
    ASSERT_TRUE(rebuild.apply({.at = kLoopStart, .key = "Node n", .believed = false, .json = R"({"apiVersion":"v1",
        "kind":"Node","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"8","pods":"9"}}})"}));
    for (const std::string name : {"a", "b", "c"}) {
        const std::string pod = R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"ns","name":")" + name +
                                R"("},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}})";
        ASSERT_TRUE(rebuild.apply({.at = kLoopStart, .key = "Pod ns/" + name, .believed = false, .json = pod}));
    }
    ASSERT_TRUE(rebuild.cluster().refresh(kLoopStart));
    const Plan two = plan_again(rebuild.cluster(), {}, {.overdue = {}, .first = {"ns/c"}, .reached = 2});
    ASSERT_EQ(two.placements.size(), 2U);
    EXPECT_EQ(two.placements[0].pod, "ns/a");
    EXPECT_EQ(two.placements[1].pod, "ns/c");
    EXPECT_EQ(two.deferred, std::vector<std::string>{"ns/b"});
}

TEST(RecordedRuns, TellWhereAWatchWasBegunAnew) {
    const Folder folder;
    tell_story({.yaml = crowded_world(3), .record = {.folder = folder.path()}}, [](Recorder& recorder) {
        recorder.put(MissedItem{.at = kLoopStart + Duration::of_seconds(9),
                                .from = kLoopStart + Duration::of_seconds(4),
                                .why = missed_words("pods")});
        recorder.flush();
    });
    const ReplayReport report = replay_of(folder.path());
    expect_identical(report);
    ASSERT_EQ(report.gaps.size(), 1U);
    EXPECT_EQ(report.gaps.front().from, kLoopStart + Duration::of_seconds(4));
    EXPECT_EQ(report.gaps.front().why, "the watch of pods could not go on and was begun anew");
}

TEST(RecordedRuns, UnderAnotherConfigurationListWhatWouldChange) {
    const Folder folder;
    tell_story({.files = {REPRIEVE_EXAMPLES "/run"}, .record = {.folder = folder.path()}});
    auto reader = RecordReader::open(folder.path());
    ASSERT_TRUE(reader.has_value());
    SchedulerConfig config;
    config.scheduler_names = {"reprieve"};
    config.actions.emplace();
    config.actions->push_back({.kind = ActionKind::kAllocate});
    const auto report = replay(**reader, {.from = {}, .to = {}, .config = config});
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_GT(report->different, 0);
    EXPECT_GT(report->identical, 0);
    EXPECT_EQ(report->replayed.evictions, 0);
    EXPECT_GT(report->recorded.evictions, 0);
    ASSERT_FALSE(report->changed.empty());
    EXPECT_NE(report->changed.front().recorded.find("evicts"), std::string::npos);
}

}  // namespace
}  // namespace reprieve
