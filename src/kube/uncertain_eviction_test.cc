// Evictions of which nobody knows whether they were carried out: the pod is asked before anything is asked for again.
#include "kube/sink_case.h"

namespace reprieve {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class UncertainEvictionTest : public SinkCase {};

TEST_F(UncertainEvictionTest, AVictimThatLeavesAlthoughItsEvictionWasRefusedIsNoFailure) {
    start([&counter = counter_](const Asked& asked) {
        if (!asked.path.ends_with("/pods/a")) return Reply{};
        return refuse_after_trouble(++counter,
                                    pod_json("a", "5", "", "", R"("deletionTimestamp":"2026-01-01T12:00:30Z")"));
    });
    const auto reports = carry_out(preemption());
    EXPECT_THAT(reports, Contains("evict ns/a"));
    EXPECT_THAT(calls(), Contains("GET /a"));
}

TEST_F(UncertainEvictionTest, AnEvictionWhoseAnswerGotLostIsNotRepeatedWhereTheVictimLeaves) {
    start([](const Asked& asked) {
        if (!asked.path.ends_with("/pods/a")) return Reply{};
        if (asked.method == "DELETE")
            return Reply{.status = 500, .body = status_json(500, "InternalError", "going down")};
        return Reply{.body = pod_json("a", "5", "", "", R"("deletionTimestamp":"2026-01-01T12:00:30Z")")};
    });
    const auto reports = carry_out(preemption());
    EXPECT_THAT(reports, Contains("evict ns/a"));
    EXPECT_EQ(std::ranges::count(calls(), "DELETE /a"), 1);
}

TEST_F(UncertainEvictionTest, AnEvictionWhoseAnswerGotLostIsRepeatedWhereTheVictimStays) {
    start([&counter = counter_](const Asked& asked) {
        if (!asked.path.ends_with("/pods/a")) return Reply{};
        if (asked.method != "DELETE") return Reply{.body = pod_json("a", "5")};
        return ++counter == 1 ? Reply{.status = 500, .body = status_json(500, "InternalError", "going down")} : Reply{};
    });
    const auto reports = carry_out(preemption());
    EXPECT_THAT(reports, Contains("evict ns/a"));
    EXPECT_EQ(std::ranges::count(calls(), "DELETE /a"), 2);
    EXPECT_EQ(std::ranges::count(calls(), "GET /a"), 1) << "the pod is asked first";
}

TEST_F(UncertainEvictionTest, AVictimThatLeavesAfterAllAlthoughItWasRefusedLaterIsNoFailure) {
    start([&counter = counter_](const Asked& asked) {
        if (!asked.path.ends_with("/pods/a")) return Reply{};
        const std::string leaves = R"("deletionTimestamp":"2026-01-01T12:00:30Z")";
        switch (++counter) {
            case 1:
                return Reply{.status = 504, .body = status_json(504, "Timeout", "too slow")};
            case 2:
                return Reply{.body = pod_json("a", "5")};
            case 3:
                return Reply{.status = 403, .body = status_json(403, "Forbidden", "no more")};
            default:
                return Reply{.body = pod_json("a", "6", "", "", leaves)};
        }
    });
    EXPECT_THAT(carry_out(preemption()), Contains("evict ns/a"));
    EXPECT_EQ(std::ranges::count(calls(), "DELETE /a"), 2);
    EXPECT_EQ(std::ranges::count(calls(), "GET /a"), 2);
}

TEST_F(UncertainEvictionTest, AMarkWhoseAnswerGotLostIsWrittenAgain) {
    start([&counter = counter_](const Asked& asked) {
        const bool first = asked.path.ends_with("/a/status") && ++counter == 1;
        return first ? Reply{.status = 500, .body = status_json(500, "InternalError", "going down")} : Reply{};
    });
    Plan plan = preemption();
    for (Eviction& eviction : plan.evictions)
        eviction.mode = EvictionMode::kSoft;
    EXPECT_THAT(carry_out(plan), Contains("evict ns/a"));
    EXPECT_EQ(std::ranges::count(calls(), "PATCH /a/status"), 2);
    EXPECT_THAT(calls(), Not(Contains("GET /a"))) << "it may be written twice";
}

TEST_F(UncertainEvictionTest, AVictimThatStaysAfterItsEvictionWasRefusedIsAFailure) {
    start([&counter = counter_](const Asked& asked) {
        if (!asked.path.ends_with("/pods/a")) return Reply{};
        if (asked.method == "GET") return Reply{.body = pod_json("a", "5")};
        return refuse_after_trouble(++counter, pod_json("a", "5"));
    });
    EXPECT_THAT(carry_out(preemption()), Contains(HasSubstr("evict ns/a: 403")));
}

}  // namespace
}  // namespace reprieve
