#include "kube/gang_census.h"

#include <gtest/gtest.h>

#include "kube/fake_api.h"
#include "manifest/decode.h"

namespace reprieve {
namespace {

class GangCensusTest : public ::testing::Test {
protected:
    void see(const char* name, const char* node, const char* phase, const char* metadata = "") {
        const std::string spec = std::string(R"("schedulerName":"reprieve","nodeName":")") + node + '"';
        see_pod(name, spec, phase, metadata);
    }
    void see_pod(const char* name, const std::string& spec, const char* phase, const char* metadata = "") {
        Decoder decoder(words_);
        const auto decoded = decoder.decode(pod_json(name,
                                                     "1",
                                                     spec + R"(,"schedulingGroup":{"podGroupName":"g"})",
                                                     std::string(R"("phase":")") + phase + '"',
                                                     metadata));
        ASSERT_TRUE(decoded && *decoded);
        census_.see(std::get<Pod>(**decoded), words_);
    }
    GangCount changed() { return census_.take_changes()["ns/g"]; }

    Vocabulary words_;
    GangCensus census_{{"reprieve"}};
};

TEST_F(GangCensusTest, CountsMembersByWhatTheyDo) {
    see("a", "", "Pending");
    EXPECT_EQ(changed(), (GangCount{.members = 1}));
    see("a", "n1", "Pending");
    EXPECT_EQ(changed(), (GangCount{.members = 1, .placed = 1}));
    see("a", "n1", "Running");
    see("b", "n2", "Succeeded");
    see("c", "n3", "Failed");
    EXPECT_EQ(changed(), (GangCount{.members = 3, .placed = 2, .running = 1, .succeeded = 1, .failed = 1}));
}

TEST_F(GangCensusTest, WhoLeavesHasNoPlaceAnyMore) {
    see("a", "n1", "Running");
    see("a", "n1", "Running", R"("deletionTimestamp":"2026-01-01T00:00:00Z")");
    EXPECT_EQ(changed(), (GangCount{.members = 1}));
    census_.see_gone("ns/a");
    EXPECT_EQ(changed(), GangCount{});
}

TEST_F(GangCensusTest, TheGangsOfOtherSchedulersAreNotCounted) {
    see_pod("a", R"("schedulerName":"volcano","nodeName":"n1")", "Running");
    EXPECT_TRUE(census_.take_changes().empty());
}

TEST_F(GangCensusTest, OnlyTheFirstChangeIsToldOf) {
    int told = 0;
    census_.on_change([&told] { ++told; });
    see("a", "n1", "Running");
    see("a", "n1", "Running");
    see("b", "n1", "Running");
    EXPECT_EQ(told, 1);
    static_cast<void>(census_.take_changes());
    see("a", "n1", "Running");
    EXPECT_EQ(told, 1) << "nothing has changed";
    see("a", "n1", "Succeeded");
    EXPECT_EQ(told, 2);
}

}  // namespace
}  // namespace reprieve
