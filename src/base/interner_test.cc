#include "base/interner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace reprieve {
namespace {

TEST(Interner, EqualStringsShareAnId) {
    Interner strings;
    const std::uint32_t a = strings.intern("a");
    const std::uint32_t b = strings.intern("b");
    EXPECT_NE(a, b);
    EXPECT_EQ(strings.intern(std::string("a")), a);
    EXPECT_EQ(strings.size(), 2U);
    EXPECT_EQ(strings.view(b), "b");
}

TEST(Interner, IdsComeInOrderOfArrival) {
    Interner strings;
    EXPECT_EQ(strings.intern("zeta"), 0U);
    EXPECT_EQ(strings.intern("alpha"), 1U);
    EXPECT_EQ(strings.intern("zeta"), 0U);
    EXPECT_EQ(strings.intern("beta"), 2U);
}

TEST(Interner, FindsOnlyWhatWasInterned) {
    Interner strings;
    EXPECT_EQ(strings.find("x"), Interner::kAbsent);
    EXPECT_EQ(strings.find(""), Interner::kAbsent);
    const std::uint32_t x = strings.intern("x");
    const std::uint32_t empty = strings.intern("");
    EXPECT_EQ(strings.find("x"), x);
    EXPECT_EQ(strings.find(""), empty);
    EXPECT_EQ(strings.find("xx"), Interner::kAbsent);
    EXPECT_EQ(strings.size(), 2U);
}

TEST(Interner, TellsApartStringsWithZeroBytes) {
    Interner strings;
    const std::uint32_t plain = strings.intern("a");
    EXPECT_NE(strings.intern(std::string_view("a\0", 2)), plain);
    EXPECT_NE(strings.intern(std::string_view("a\0b", 3)), strings.intern(std::string_view("a\0c", 3)));
}

TEST(Interner, ViewsSurviveGrowth) {
    Interner strings;
    const std::string long_text(200'000, 'x');  // larger than one block
    std::vector<std::string_view> views;
    for (int i = 0; i < 20'000; ++i) {
        if (i == 777) strings.intern(long_text);
        views.push_back(strings.view(strings.intern("name-" + std::to_string(i))));
    }
    EXPECT_EQ(strings.size(), 20'001U);
    for (int i = 0; i < 20'000; ++i) {
        const std::string text = "name-" + std::to_string(i);
        ASSERT_EQ(views[static_cast<std::size_t>(i)], text);
        ASSERT_EQ(strings.view(strings.find(text)), text);
    }
    EXPECT_EQ(strings.view(strings.find(long_text)), long_text);
    EXPECT_GE(strings.bytes(), long_text.size());
}

TEST(Interner, ASweepForgetsWhatIsNotMarkedAndGivesItsIdsAgain) {
    Interner strings;
    const std::uint32_t kept = strings.intern("kept");
    const std::uint32_t gone = strings.intern("gone");
    const std::uint32_t last = strings.intern("last");
    std::vector<bool> in_use(strings.slots());
    in_use[kept] = in_use[last] = true;
    strings.sweep(in_use);
    EXPECT_EQ(strings.size(), 2U);
    EXPECT_EQ(strings.view(kept), "kept");
    EXPECT_EQ(strings.view(last), "last");
    EXPECT_EQ(strings.find("gone"), Interner::kAbsent);
    EXPECT_EQ(strings.intern("kept"), kept);
    EXPECT_EQ(strings.intern("new"), gone);
    EXPECT_EQ(strings.view(gone), "new");
    EXPECT_EQ(strings.slots(), 3U);
}

TEST(Interner, MemoryFollowsWhatIsInUse) {
    Interner strings;
    const auto churn = [&](int round) {
        std::vector<std::uint32_t> ids;
        for (int i = 0; i < 5000; ++i)
            ids.push_back(strings.intern("round-" + std::to_string(round) + "-" + std::to_string(i)));
        strings.sweep(std::vector<bool>(strings.slots()));
    };
    churn(0);
    const std::size_t bytes = strings.bytes();
    for (int round = 1; round < 20; ++round)
        churn(round);
    EXPECT_LE(strings.bytes(), bytes + bytes / 10);
}

}  // namespace
}  // namespace reprieve
