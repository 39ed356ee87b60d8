#include "model/amount_text.h"

#include <gtest/gtest.h>

namespace reprieve {
namespace {

TEST(AmountText, IsWhatWasWritten) {
    EXPECT_EQ(amount_text("cpu", 1500), "1500m");
    EXPECT_EQ(amount_text("memory", std::int64_t{3} << 29), "1.5Gi");
    EXPECT_EQ(amount_text("hugepages-2Mi", std::int64_t{3} << 30), "3Gi");
    EXPECT_EQ(amount_text("storage", 32'000'000'000), "32G");
    EXPECT_EQ(amount_text("nvidia.com/gpu", 4), "4");
    EXPECT_EQ(amount_text("memory", 37), "37");
    EXPECT_EQ(amount_text("memory", 0), "0");
}

TEST(AmountText, OfManyBytesIsRounded) {
    EXPECT_EQ(amount_text("memory", 5'726'623'061), "5.33Gi");
    EXPECT_EQ(amount_text("memory", 682'999'999), "651.36Mi");
    EXPECT_EQ(amount_text("memory", INT64_MAX), "just under 8Ei");
}

TEST(AmountText, DoesNotPassForARoundNumber) {
    EXPECT_EQ(amount_text("memory", (std::int64_t{4} << 30) + 1), "just over 4Gi");
    EXPECT_EQ(amount_text("memory", (std::int64_t{4} << 30) - 1), "just under 4Gi");
}

}  // namespace
}  // namespace reprieve
