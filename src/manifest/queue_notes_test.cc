#include "manifest/queue_notes.h"

#include <gtest/gtest.h>

namespace reprieve {
namespace {

TEST(QueueNotes, ABalancedQueueCarriesItsGrantAndItsStatus) {
    const QueueReport report{.name = "q",
                             .shares = {{"deserved", {{"cpu", 3000}, {"memory", 1024}}},
                                        {"allocated", {{"cpu", 1000}, {"memory", 1024}}},
                                        {"used", {{"cpu", 0}, {"memory", 0}}},
                                        {"usedLive", {{"cpu", 0}, {"memory", 0}}},
                                        {"preempting", {{"cpu", 2000}, {"memory", 0}}}}};
    const auto notes = queue_notes(report);
    ASSERT_EQ(notes.set.size(), 2U);
    EXPECT_TRUE(notes.remove.empty());
    EXPECT_EQ(notes.set.at("reprieve.dev/allocated"), R"({"cpu":"1000m","memory":"1024"})");
    EXPECT_EQ(notes.set.at("reprieve.dev/queue-status"),
              R"({"deserved":{"cpu":"3000m","memory":"1024"},"allocated":{"cpu":"1000m","memory":"1024"},)"
              R"("used":{"cpu":"0m","memory":"0"},"preempting":{"cpu":"2000m","memory":"0"}})");
}

TEST(QueueNotes, OtherQueuesCarryNone) {
    EXPECT_TRUE(queue_notes({.name = "q", .shares = {{"used", {{"cpu", 1}}}}}).empty());
    EXPECT_TRUE(queue_notes({.name = "q", .shares = {{"allocated", {{"cpu", 1}}}}}).empty());
}

TEST(QueueNotes, AQuotaSaysSinceWhenItIsAboveItsRuntime) {
    const QueueNotes over = queue_notes({.name = "q", .over_since = Time{1'767'225'600'000'000}});
    EXPECT_EQ(over.set.at("reprieve.dev/over-since"), "2026-01-01T00:00:00Z");
    const QueueNotes back = queue_notes({.name = "q", .over_since = Time()});
    EXPECT_TRUE(back.set.empty());
    EXPECT_EQ(back.remove, std::vector<std::string>{"reprieve.dev/over-since"});
}

}  // namespace
}  // namespace reprieve
