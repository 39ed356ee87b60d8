#include "text/display_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace reprieve {
namespace {

using ::testing::ElementsAre;

TEST(Neutral, LeavesOrdinaryTextAlone) {
    EXPECT_EQ(neutral(""), "");
    EXPECT_EQ(neutral("team-a/train-0 (priority 10)"), "team-a/train-0 (priority 10)");
    EXPECT_EQ(neutral("größe · 日本 🚀 é …"), "größe · 日本 🚀 é …");
}

TEST(Neutral, SpellsOutWhatCouldAct) {
    EXPECT_EQ(neutral("a\x1b[31mb"), "a\\x1b[31mb");
    EXPECT_EQ(neutral("a\nb\r\tc\a"), "a\\nb\\r\\tc\\x07");
    EXPECT_EQ(neutral(std::string_view("a\0b\x7f", 4)), "a\\x00b\\x7f");
    EXPECT_EQ(neutral("\xc2\x9b"
                      "31m"),
              "\\u009b31m");
}

TEST(Neutral, SpellsOutWhatHidesOrTurns) {
    EXPECT_EQ(neutral("gpj\u202Ea"), "gpj\\u202ea");
    EXPECT_EQ(neutral("a\u2066b\u2069"), "a\\u2066b\\u2069");
    EXPECT_EQ(neutral("a\u200Bb\uFEFF"), "a\\u200bb\\ufeff");
    EXPECT_EQ(neutral("a\u2028b"), "a\\u2028b");
    EXPECT_EQ(neutral("a\U000E0041"), "a\\U000e0041");
}

TEST(Neutral, SpellsOutInvalidBytes) {
    EXPECT_EQ(neutral("a\xff\xc3(b"), "a\\xff\\xc3(b");
    EXPECT_EQ(neutral("a\uFFFDb"), "a\uFFFDb");
}

RC_GTEST_PROP(Neutral, NeverLetsAControlByteThrough, (const std::string& text)) {
    const std::string shown = neutral(text);
    RC_ASSERT(std::ranges::none_of(shown, [](char c) { return (c >= 0 && c < 0x20) || c == 0x7F; }));
    RC_ASSERT(neutral(shown) == shown);
}

TEST(DisplayWidth, CountsCells) {
    EXPECT_EQ(display_width(""), 0U);
    EXPECT_EQ(display_width("pod-1"), 5U);
    EXPECT_EQ(display_width("größe…·"), 7U);
    EXPECT_EQ(display_width("日本"), 4U);
    EXPECT_EQ(display_width("🚀x"), 3U);
    EXPECT_EQ(display_width("e\u0301"), 1U);
}

TEST(Shortened, KeepsFrontAndBack) {
    EXPECT_EQ(shortened("abcdefghij", 10), "abcdefghij");
    EXPECT_EQ(shortened("abcdefghij", 7), "abc…hij");
    EXPECT_EQ(shortened("abcdefghij", 6), "ab…hij");
    EXPECT_EQ(shortened("abcdefghij", 2), "…j");
    EXPECT_EQ(shortened("abcdefghij", 1), "…");
}

TEST(Shortened, CutsBetweenCharacters) {
    EXPECT_EQ(shortened("日本語日本語", 7), "日…語");
    EXPECT_EQ(shortened("日本語日本語", 9), "日本…本語");
    EXPECT_EQ(shortened("abcde\u0301fgh", 5), "ab…gh");
    EXPECT_EQ(shortened("ab\u0301cdefgh", 5), "ab\u0301…gh");
}

RC_GTEST_PROP(Shortened, FitsTheWidth, (const std::string& text)) {
    const auto width = *rc::gen::inRange<std::size_t>(1, 30);
    RC_ASSERT(display_width(shortened(neutral(text), width)) <= width);
}

TEST(Words, AreWhatSpacesSeparate) {
    EXPECT_THAT(words_of("a bc  d "), ElementsAre("a", "bc", "d"));
    EXPECT_TRUE(words_of("").empty());
    EXPECT_TRUE(words_of("  ").empty());
}

TEST(Wrapped, FillsLinesWithWholePieces) {
    EXPECT_THAT(wrapped({"one", "two", "three"}, 0), ElementsAre("one two three"));
    EXPECT_THAT(wrapped({"one", "two", "three"}, 7), ElementsAre("one two", "three"));
    EXPECT_THAT(wrapped({"one", "two", "three"}, 6), ElementsAre("one", "two", "three"));
    EXPECT_THAT(wrapped({"pods 3 ·", "units 2"}, 10), ElementsAre("pods 3 ·", "units 2"));
    EXPECT_THAT(wrapped({"far-too-long", "x"}, 4), ElementsAre("far-too-long", "x"));
    EXPECT_TRUE(wrapped({}, 10).empty());
}

}  // namespace
}  // namespace reprieve
