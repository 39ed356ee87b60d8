#include "explain/threshold.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace reprieve {
namespace {

Question from(std::int64_t first, int& asked) {
    return [first, &asked](std::int64_t value) -> std::optional<bool> {
        ++asked;
        return value >= first;
    };
}

TEST(Threshold, OneStepNeedsNoQuestion) {
    int asked = 0;
    EXPECT_EQ(find_threshold(4, 5, {}, from(5, asked)), 5);
    EXPECT_EQ(asked, 0);
}

TEST(Threshold, HintsSaveQuestions) {
    int asked = 0;
    EXPECT_EQ(find_threshold(0, 1'000'000'000, {100, 101, 1000, 1001, 100'000}, from(1001, asked)), 1001);
    EXPECT_LE(asked, 4);
}

TEST(Threshold, GivesUpWhenNobodyAnswers) {
    int left = 3;
    const Question tired = [&](std::int64_t value) -> std::optional<bool> {
        if (left-- == 0) return std::nullopt;
        return value >= 777;
    };
    EXPECT_EQ(find_threshold(0, 1'000'000, {}, tired), std::nullopt);
}

RC_GTEST_PROP(Threshold, ItHoldsThereAndNotOneBefore, (const std::vector<std::int16_t>& hints, std::uint16_t value)) {
    const std::int64_t first = value + 1;
    int asked = 0;
    const auto found = find_threshold(0, 100'000, {hints.begin(), hints.end()}, from(first, asked));
    RC_ASSERT(found == first);
}

// The answer may go to and fro: then it is one of the places where it changes.
RC_GTEST_PROP(Threshold, OfSeveralChangesItFindsOne, (const std::vector<bool>& pattern)) {
    const auto holds = [&](std::int64_t value) {
        const auto at = static_cast<std::size_t>(value);
        return value > 0 && (at > pattern.size() || pattern[at - 1]);
    };
    const auto found = find_threshold(
        0, static_cast<std::int64_t>(pattern.size()) + 1, {}, [&](std::int64_t v) { return std::optional(holds(v)); });
    RC_ASSERT(found);
    RC_ASSERT(holds(*found));
    RC_ASSERT(!holds(*found - 1));
}

}  // namespace
}  // namespace reprieve
