#include "state/share_policy.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/quantity.h"

namespace reprieve {
namespace {

Wide nano(std::string_view text) { return *parse_nano_quantity(text); }

// What a share of this capacity takes, as text; "no": the policy forbids it.
std::string share(const DeviceCapacity& capacity, std::string_view wish) {
    const auto amount =
        share_of_capacity(capacity, wish.empty() ? std::nullopt : std::optional(*parse_nano_quantity(wish)));
    return amount ? format_nano_quantity(*amount) : "no";
}

TEST(SharePolicyTest, WithoutAPolicyTheWishCountsOrElseEverything) {
    const DeviceCapacity plain{.value = nano("80")};
    EXPECT_EQ(share(plain, ""), "80");
    EXPECT_EQ(share(plain, "3"), "3");
}

TEST(SharePolicyTest, ARangeRoundsUpInStepsFromItsMinimum) {
    DeviceCapacity ranged{.value = nano("10"), .policy = Rare(SharePolicy{.usual = nano("2"), .has_range = true})};
    ranged.policy.make().least = nano("1");
    ranged.policy.make().step = nano("2");
    EXPECT_EQ(share(ranged, ""), "2");  // the usual amount needs no step
    EXPECT_EQ(share(ranged, "500m"), "1");
    EXPECT_EQ(share(ranged, "1"), "1");
    EXPECT_EQ(share(ranged, "4"), "5");
    ranged.policy.make().most = nano("5");
    EXPECT_EQ(share(ranged, "6"), "no");
}

TEST(SharePolicyTest, FractionsAreExact) {
    DeviceCapacity ranged{.value = nano("1"), .policy = Rare(SharePolicy{.usual = nano("200m"), .has_range = true})};
    ranged.policy.make().least = nano("200m");
    ranged.policy.make().step = nano("100m");
    EXPECT_EQ(share(ranged, "250m"), "300m");
}

TEST(SharePolicyTest, ValidValuesTakeTheNextOne) {
    const DeviceCapacity listed{.value = nano("10"),
                                .policy = Rare(SharePolicy{.usual = nano("1"), .valid = {nano("1"), nano("4")}})};
    EXPECT_EQ(share(listed, "2"), "4");
    EXPECT_EQ(share(listed, "4"), "4");
    EXPECT_EQ(share(listed, "5"), "no");
}

TEST(SharePolicyTest, RoundingUpMayLeave64Bits) {
    DeviceCapacity ranged{.value = nano("1"), .policy = Rare(SharePolicy{.usual = nano("0"), .has_range = true})};
    ranged.policy.make().least = nano("0");
    ranged.policy.make().step = nano("2");
    EXPECT_TRUE(rounds_out_of_range(ranged, nano("9223372036854775807")));
    EXPECT_FALSE(rounds_out_of_range(ranged, nano("9223372036854775806")));
}

}  // namespace
}  // namespace reprieve
