#include "text/amounts.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace reprieve {
namespace {

TEST(Amounts, CpuIsInCores) {
    EXPECT_EQ(human_amount("cpu", 0), "0");
    EXPECT_EQ(human_amount("cpu", 4000), "4");
    EXPECT_EQ(human_amount("cpu", 1500), "1.5");
    EXPECT_EQ(human_amount("cpu", 7), "0.007");
    EXPECT_EQ(human_amount("cpu", 100'000), "100");
    EXPECT_EQ(human_amount("cpu", -250), "-0.25");
}

TEST(Amounts, BytesTakeTheLargestUnit) {
    EXPECT_EQ(human_bytes(0), "0");
    EXPECT_EQ(human_bytes(1023), "1023");
    EXPECT_EQ(human_bytes(1024), "1Ki");
    EXPECT_EQ(human_bytes(1536), "1.5Ki");
    EXPECT_EQ(human_bytes(std::int64_t{27} << 30), "27Gi");
    EXPECT_EQ(human_bytes(8'143'212'544), "7.58Gi");
    EXPECT_EQ(human_bytes(-(std::int64_t{3} << 20)), "-3Mi");
    EXPECT_EQ(human_bytes(INT64_MAX), "8Ei");
    EXPECT_EQ(human_bytes(INT64_MIN), "-8Ei");
}

TEST(Amounts, TheResourceSaysTheUnit) {
    constexpr std::int64_t kGi = std::int64_t{1} << 30;
    EXPECT_EQ(human_amount("memory", kGi), "1Gi");
    EXPECT_EQ(human_amount("ephemeral-storage", kGi), "1Gi");
    EXPECT_EQ(human_amount("hugepages-2Mi", kGi), "1Gi");
    EXPECT_EQ(human_amount("reprieve.dev/gpu-memory", kGi), "1Gi");
    EXPECT_EQ(human_amount("nvidia.com/gpu", 4096), "4096");
    EXPECT_EQ(human_amount("pods", 110), "110");
}

}  // namespace
}  // namespace reprieve
