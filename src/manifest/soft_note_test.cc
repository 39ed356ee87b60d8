#include "manifest/soft_note.h"

#include <gtest/gtest.h>

namespace reprieve {
namespace {

constexpr Time kNoon{std::int64_t{1'767'268'800} * 1'000'000};  // 2026-01-01T12:00:00Z

TEST(SoftNote, SaysForWhomWhySinceWhenAndByWhom) {
    Eviction eviction;
    eviction.owner = "team/train";
    eviction.reason = R"(makes room for "train")";
    EXPECT_EQ(soft_note(eviction, kNoon + Duration{700'000}),
              R"({"preemptJob":"team/train","reason":"makes room for \"train\"","initiator":"reprieve",)"
              R"("timestamp":"2026-01-01T12:00:00Z"})");
}

TEST(SoftNote, IsReadAsItWasMeant) {
    Eviction eviction;
    eviction.owner = "team/train";
    Pod pod;
    EXPECT_FALSE(soft_eviction_of(pod));
    pod.make_extras().soft_eviction = soft_note(eviction, kNoon);
    const auto read = soft_eviction_of(pod);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->job, "team/train");
    EXPECT_EQ(read->initiator, SoftEviction::kOurs);
    EXPECT_EQ(read->since, kNoon);
}

}  // namespace
}  // namespace reprieve
