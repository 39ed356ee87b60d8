#include "base/pattern.h"

#include <gtest/gtest.h>

namespace reprieve {
namespace {

bool occurs(std::string_view pattern, std::string_view text) {
    const auto parsed = Pattern::parse(pattern);
    EXPECT_TRUE(parsed.has_value()) << parsed.error().message;
    return parsed && parsed->occurs_in(text);
}

std::string fault(std::string_view pattern) {
    const auto parsed = Pattern::parse(pattern);
    EXPECT_FALSE(parsed.has_value()) << pattern;
    return parsed ? "" : parsed.error().message;
}

TEST(Pattern, MatchesAPartUnlessAnchored) {
    EXPECT_TRUE(occurs("ode-[0-3]", "node-2"));
    EXPECT_FALSE(occurs("^ode-[0-3]$", "node-2"));
    EXPECT_TRUE(occurs("^node-\\d+$", "node-17"));
    EXPECT_TRUE(occurs("", "anything"));
}

TEST(Pattern, NestedRepetitionEnds) { EXPECT_FALSE(occurs("^n(a+)+$", "n" + std::string(200, 'a') + "b")); }

TEST(Pattern, WhatIsWrongIsNamed) {
    EXPECT_EQ(fault("("), "is not a regular expression (RE2 syntax): missing ): (");
    EXPECT_EQ(fault("(a)\\1"), "has the backreference \\1, which RE2 syntax does not know");
    EXPECT_EQ(fault("a(?=b)"), "has (?=, which RE2 syntax does not know");
    EXPECT_EQ(fault("((a{100}){100}){100}").find("is not a regular expression (RE2 syntax): "), 0U);
}

}  // namespace
}  // namespace reprieve
