#include "base/time.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace reprieve {
namespace {

constexpr std::int64_t kSecond = 1'000'000;

TEST(Time, ReadsRfc3339) {
    const std::vector<std::pair<const char*, std::int64_t>> cases = {
        {"1970-01-01T00:00:00Z", 0},
        {"1970-01-01T00:00:01Z", kSecond},
        {"1969-12-31T23:59:59Z", -kSecond},
        {"2000-02-29T00:00:00Z", 951'782'400 * kSecond},
        {"2026-01-01T12:00:00Z", 1'767'268'800 * kSecond},
        {"2026-01-01T12:00:00.5Z", 1'767'268'800 * kSecond + 500'000},
        {"2026-01-01T12:00:00.123456789Z", 1'767'268'800 * kSecond + 123'456},
        {"2026-01-01T14:00:00+02:00", 1'767'268'800 * kSecond},
        {"2026-01-01T03:30:00-08:30", 1'767'268'800 * kSecond},
        {"0001-01-01T00:00:00Z", -62'135'596'800 * kSecond},
        {"9999-12-31T23:59:59Z", 253'402'300'799 * kSecond},
    };
    for (const auto& [text, us] : cases) {
        const auto read = parse_time(text);
        ASSERT_TRUE(read.has_value()) << text;
        EXPECT_EQ(read->us, us) << text;
    }
}

TEST(Time, RefusesWhatIsNoTime) {
    for (const char* text : {"",
                             "2026-01-01",
                             "2026-01-01T12:00:00",
                             "2026-01-01 12:00:00Z",
                             "2026-01-01T12:00Z",
                             "2026-1-1T12:00:00Z",
                             "2026-13-01T00:00:00Z",
                             "2026-00-01T00:00:00Z",
                             "2026-04-31T00:00:00Z",
                             "2026-02-29T00:00:00Z",
                             "1900-02-29T00:00:00Z",
                             "2026-01-00T00:00:00Z",
                             "2026-01-01T24:00:00Z",
                             "2026-01-01T00:60:00Z",
                             "2026-01-01T00:00:60Z",
                             "2026-01-01T00:00:00.Z",
                             "2026-01-01T00:00:00+0200",
                             "2026-01-01T00:00:00+24:00",
                             "2026-01-01T00:00:00Zx",
                             "2026-01-01T00:00:00+02:60",
                             "yesterday"}) {
        const auto read = parse_time(text);
        ASSERT_FALSE(read.has_value()) << text;
        EXPECT_NE(read.error().message.find("\"" + std::string(text) + "\" is not a"), std::string::npos)
            << read.error().message;
    }
}

TEST(Time, FormatsInUtc) {
    EXPECT_EQ(format_time(Time{1'767'268'800 * kSecond}), "2026-01-01T12:00:00Z");
    EXPECT_EQ(format_time(Time{1'767'268'800 * kSecond + 120'000}), "2026-01-01T12:00:00.12Z");
    EXPECT_EQ(format_time(Time{-1}), "1969-12-31T23:59:59.999999Z");
}

TEST(Time, WhatIsFormattedReadsBack) {
    // A prime stride visits every month, leap days and both sides of the epoch.
    for (std::int64_t us = -62'135'596'800 * kSecond; us < 253'402'300'799 * kSecond;
         us += 86'399'999'983 * std::int64_t{37}) {
        ASSERT_EQ(parse_time(format_time(Time{us})).value().us, us) << format_time(Time{us});
    }
}

TEST(Duration, ReadsGoDurations) {
    const std::vector<std::pair<const char*, std::int64_t>> cases = {
        {"0", 0},
        {"-0", 0},
        {"0s", 0},
        {"30m", 1800 * kSecond},
        {"1h30m", 5400 * kSecond},
        {"1.5s", 1'500'000},
        {".5s", 500'000},
        {"1.s", kSecond},
        {"250ms", 250'000},
        {"10us", 10},
        {"10\xC2\xB5s", 10},
        {"10\xCE\xBCs", 10},
        {"1500ns", 1},
        {"999ns1ns", 1},
        {"-2h", -7200 * kSecond},
        {"+3s", 3 * kSecond},
        {"1h1h", 7200 * kSecond},
        {"0.1000000000000000000000000000001h", 360 * kSecond},
        {"2562047h47m16.854775807s", 9'223'372'036'854'775},
    };
    for (const auto& [text, us] : cases) {
        const auto read = parse_duration(text);
        ASSERT_TRUE(read.has_value()) << text;
        EXPECT_EQ(read->us, us) << text;
    }
}

TEST(Duration, RefusesNonsense) {
    for (const char* text : {"",
                             "-",
                             "+",
                             "30",
                             "m",
                             ".s",
                             "1d",
                             "1 h",
                             "1h ",
                             "1hm",
                             "3000000h",
                             "2562047h47m16.854775808s",
                             "1h-30m",
                             "--1s",
                             "99999999999999999999999999999999999999999999s"}) {
        EXPECT_FALSE(parse_duration(text).has_value()) << text;
    }
    EXPECT_EQ(parse_duration("30").error().message, "\"30\" is not a duration (examples: 30m, 1h30m, 1.5s, 250ms)");
    EXPECT_EQ(parse_duration("3000000h").error().message, "\"3000000h\" is too long for a duration");
}

TEST(Duration, FormatsShortest) {
    const std::vector<std::pair<std::int64_t, const char*>> cases = {
        {0, "0s"},
        {7, "7us"},
        {50'000, "50ms"},
        {1'500, "1.5ms"},
        {1'500'000, "1.5s"},
        {1800 * kSecond, "30m"},
        {5400 * kSecond, "1h30m"},
        {3605 * kSecond, "1h5s"},
        {-90 * kSecond, "-1m30s"},
    };
    for (const auto& [us, text] : cases) {
        EXPECT_EQ(format_duration(Duration{us}), text);
        EXPECT_EQ(parse_duration(text).value().us, us);
    }
}

}  // namespace
}  // namespace reprieve
