#include "base/quantity.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace reprieve {
namespace {

struct Case {
    const char* text;
    std::int64_t whole;
    std::int64_t milli;
};

TEST(Quantity, ReadsEverySpelling) {
    const std::vector<Case> cases = {
        {"0", 0, 0},
        {"-0", 0, 0},
        {"000", 0, 0},
        {"0.000Gi", 0, 0},
        {"1", 1, 1000},
        {"+7", 7, 7000},
        {"-1", -1, -1000},
        {"007", 7, 7000},
        {"5.", 5, 5000},
        {".5", 1, 500},
        {"-.5", -1, -500},
        {"1.5", 2, 1500},
        {"100m", 1, 100},
        {"2500m", 3, 2500},
        {"-2500m", -3, -2500},
        {"1500u", 1, 2},
        {"1n", 1, 1},
        {"-1n", -1, -1},
        {"1000000n", 1, 1},
        {"1000001n", 1, 2},
        {"2k", 2000, 2'000'000},
        {"3M", 3'000'000, 3'000'000'000},
        {"4G", 4'000'000'000, 4'000'000'000'000},
        {"5T", 5'000'000'000'000, 5'000'000'000'000'000},
        {"6P", 6'000'000'000'000'000, 6'000'000'000'000'000'000},
        {"1Ki", 1024, 1024 * 1000},
        {"1.5Gi", 1'610'612'736, 1'610'612'736'000},
        {"0.1Mi", 104'858, 104'857'600},
        {"1Ti", std::int64_t{1} << 40, (std::int64_t{1} << 40) * 1000},
        {"2Pi", std::int64_t{1} << 51, (std::int64_t{1} << 51) * 1000},
        {"2e3", 2000, 2'000'000},
        {"1E3", 1000, 1'000'000},
        {"1e+2", 100, 100'000},
        {"5e-1", 1, 500},
        {"1.25E-2", 1, 13},
        {"1e-400", 1, 1},
        {"0e999999999999999999999", 0, 0},
    };
    for (const Case& c : cases) {
        EXPECT_EQ(parse_quantity(c.text, QuantityUnit::kWhole).value_or(-77), c.whole) << c.text;
        EXPECT_EQ(parse_quantity(c.text, QuantityUnit::kMilli).value_or(-77), c.milli) << c.text;
    }
}

TEST(Quantity, ReachesTheEdgeOf64Bits) {
    EXPECT_EQ(parse_quantity("1E", QuantityUnit::kWhole).value(), 1'000'000'000'000'000'000);
    EXPECT_EQ(parse_quantity("7Ei", QuantityUnit::kWhole).value(), std::int64_t{7} << 60);
    EXPECT_EQ(parse_quantity("9223372036854775807", QuantityUnit::kWhole).value(),
              std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(parse_quantity("9223372036854775.807", QuantityUnit::kMilli).value(),
              std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(parse_quantity("-9223372036854775807", QuantityUnit::kWhole).value(),
              -std::numeric_limits<std::int64_t>::max());
    for (const char* text : {"12E",
                             "8Ei",
                             "9223372036854775808",
                             "9223372036854775806.1e1",
                             "9223372036854775807.1",
                             "1e19",
                             "1e20",
                             "1e999999999999999999999",
                             "99999999999999999999999",
                             "-12E",
                             "10000Pi"}) {
        const auto read = parse_quantity(text, QuantityUnit::kWhole);
        ASSERT_FALSE(read.has_value()) << text;
        EXPECT_EQ(read.error().message,
                  "\"" + std::string(text) + "\" is too large: the amount does not fit in 64 bits");
    }
    EXPECT_FALSE(parse_quantity("1E", QuantityUnit::kMilli).has_value());
    EXPECT_FALSE(parse_quantity("9Pi", QuantityUnit::kMilli).has_value());
}

TEST(Quantity, LongFractionsStayExact) {
    // 2^-50 and a little more: binary suffixes must not lose the last digit.
    const std::string tiny = "0.00000000000000088817841970012523233890533447265625";
    EXPECT_EQ(parse_quantity(tiny + "Pi", QuantityUnit::kWhole).value(), 1);
    EXPECT_EQ(
        parse_quantity(tiny + "0000000000000000000000000000000000000000000000000001Pi", QuantityUnit::kWhole).value(),
        2);
    EXPECT_EQ(parse_quantity("0.9999999999999999999999999999999999999999999999", QuantityUnit::kWhole).value(), 1);
}

TEST(Quantity, RefusesNonsense) {
    for (const char* text :
         {"",      " ",     "1 ",   " 1",  "abc", "-",  ".",    "+.",    "Ki",     "m",   "1.1.M", "1+1.0M",
          "0.1mi", "0.1am", "aoeu", ".5i", "1i",  "1e", "1E+",  "1e1.5", "3.01e-", "1K",  "1KI",   "1ki",
          "1mm",   "1Kie3", "0x10", "1,5", "--1", "1-", "1e3k", "1Gi1",  "NaN",    "inf", "١"}) {
        const auto read = parse_quantity(text, QuantityUnit::kWhole);
        ASSERT_FALSE(read.has_value()) << text;
        EXPECT_NE(read.error().message.find("\"" + std::string(text) + "\" is not a quantity"), std::string::npos)
            << read.error().message;
    }
}

TEST(Quantity, FormatsForPeople) {
    EXPECT_EQ(format_cpu(1500), "1500m");
    EXPECT_EQ(format_cpu(4000), "4");
    EXPECT_EQ(format_cpu(0), "0");
    EXPECT_EQ(format_cpu(-250), "-250m");
    EXPECT_EQ(format_bytes(0), "0");
    EXPECT_EQ(format_bytes(37), "37");
    EXPECT_EQ(format_bytes(1536), "1.5Ki");
    EXPECT_EQ(format_bytes(1'610'612'736), "1.5Gi");
    EXPECT_EQ(format_bytes(std::int64_t{80} << 30), "80Gi");
    EXPECT_EQ(format_bytes(1'000'000'000), "1G");
    EXPECT_EQ(format_bytes(32'500'000'000), "32.5G");
    EXPECT_EQ(format_bytes(1'024'000), "1000Ki");
    EXPECT_EQ(format_bytes(-(std::int64_t{1} << 20)), "-1Mi");
}

TEST(Quantity, WhatIsFormattedReadsBack) {
    for (const std::int64_t value : {std::int64_t{1},
                                     std::int64_t{999},
                                     std::int64_t{1025},
                                     std::int64_t{1} << 62,
                                     std::int64_t{3} << 28,
                                     std::numeric_limits<std::int64_t>::max(),
                                     std::int64_t{123'456'789'012}}) {
        EXPECT_EQ(parse_quantity(format_bytes(value), QuantityUnit::kWhole).value(), value);
        EXPECT_EQ(parse_quantity(format_cpu(-value), QuantityUnit::kMilli).value(), -value);
    }
}

TEST(QuantityTest, BillionthsAreExactAndHeldAtTheLargestAmount) {
    const auto nano = [](std::string_view text) { return *parse_nano_quantity(text); };
    EXPECT_TRUE(nano("1536Mi") == nano("1.5Gi"));
    EXPECT_TRUE(nano("250m") == Wide{250'000'000});
    EXPECT_TRUE(nano("0.1n") == 1);
    EXPECT_TRUE(nano("-0.1n") == -1);
    EXPECT_TRUE(nano("18446744073709551616") == nano("9223372036854775807"));
    EXPECT_FALSE(parse_nano_quantity("80g"));
    for (std::string_view text : {"10Gi", "3", "250m", "-2", "7u", "1n", "0", "1000Ki"})
        EXPECT_EQ(format_nano_quantity(nano(text)), text);
}

}  // namespace
}  // namespace reprieve
