#include "base/semver.h"

#include <gtest/gtest.h>

#include <string_view>

namespace reprieve {
namespace {

Semver version(std::string_view text, bool lenient = false) {
    const auto parsed = Semver::parse(text, lenient);
    EXPECT_TRUE(parsed) << text;
    return parsed ? *parsed : Semver{};
}

TEST(SemverTest, PrecedenceFollowsTheStandardsOwnExample) {
    constexpr std::string_view kOrder[] = {"1.0.0-alpha",
                                           "1.0.0-alpha.1",
                                           "1.0.0-alpha.beta",
                                           "1.0.0-beta",
                                           "1.0.0-beta.2",
                                           "1.0.0-beta.11",
                                           "1.0.0-rc.1",
                                           "1.0.0"};
    for (std::size_t i = 0; i + 1 < std::size(kOrder); ++i)
        EXPECT_LT(version(kOrder[i]), version(kOrder[i + 1])) << kOrder[i];
    EXPECT_LT(version("1.9.0"), version("1.10.0"));
    EXPECT_EQ(version("1.0.0+a"), version("1.0.0+b"));
}

TEST(SemverTest, LenientReadingFillsUpWhatIsMissing) {
    EXPECT_EQ(version("v1.02", true), version("1.2.0"));
    EXPECT_EQ(version("7", true), version("7.0.0"));
    EXPECT_FALSE(Semver::parse("v1.2.3"));
    EXPECT_FALSE(Semver::parse("01.2.3"));
    EXPECT_FALSE(Semver::parse("1.2"));
}

TEST(SemverTest, NonsenseIsRefused) {
    for (std::string_view text :
         {"", "1", "1.2.3-", "1.2.3-01", "1.2.3+", "1.2.3.4", "a.b.c", "1.2.99999999999999999999"})
        EXPECT_FALSE(Semver::parse(text)) << text;
}

}  // namespace
}  // namespace reprieve
