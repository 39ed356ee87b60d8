// The referee judges Reprieve too: whatever the loop did, nothing can be said against it.
#include "recorded_story.h"
#include "referee/record_referee.h"

namespace reprieve {
namespace {

RefereeReport judged(const std::string& path) {
    auto reader = RecordReader::open(path);
    EXPECT_TRUE(reader.has_value()) << reader.error().message;
    if (!reader) return {};
    auto report = judge_record(**reader, {}, true);
    EXPECT_TRUE(report.has_value()) << report.error().message;
    return report ? std::move(*report) : RefereeReport();
}

void expect_fair(const RefereeReport& report) {
    for (const JudgedDecision& one : report.verdicts)
        EXPECT_STREQ(to_text(one.ruling.verdict), "fair")
            << format_time(one.at) << " " << one.owner << " had " << one.victims.size() << " evicted, first "
            << one.victims.front() << ": " << one.ruling.evidence;
}

// The worlds with these numbers, several to a test; in some nobody has to go.
constexpr std::uint32_t kWorlds = 40;
constexpr std::uint32_t kWorldsEach = 8;

class JudgedStories : public testing::TestWithParam<std::uint32_t> {};

TEST_P(JudgedStories, AreFair) {
    std::size_t verdicts = 0;
    for (std::uint32_t seed = GetParam(); seed < GetParam() + kWorldsEach; ++seed) {
        SCOPED_TRACE(seed);
        const Folder folder;
        tell_story({.yaml = crowded_world(seed), .record = {.folder = folder.path()}});
        const RefereeReport report = judged(folder.path());
        verdicts += report.verdicts.size();
        expect_fair(report);
    }
    EXPECT_GE(verdicts, kWorldsEach);
}

INSTANTIATE_TEST_SUITE_P(Worlds, JudgedStories, testing::Range<std::uint32_t>(1, kWorlds + 1, kWorldsEach));

// Two demands are served in one cycle: each is judged beside what was done for the other.
TEST(JudgedRuns, OfTheExampleAreFair) {
    const Folder folder;
    tell_story({.files = {REPRIEVE_EXAMPLES "/run"}, .record = {.folder = folder.path()}});
    const RefereeReport report = judged(folder.path());
    EXPECT_GT(report.verdicts.size(), 1U);
    expect_fair(report);
    EXPECT_EQ(report.totals().pods_lost, report.totals().least_pods);
}

}  // namespace
}  // namespace reprieve
