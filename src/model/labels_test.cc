#include "model/labels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "model/vocabulary.h"

namespace reprieve {
namespace {

class LabelsTest : public ::testing::Test {
protected:
    Labels labels(std::initializer_list<std::pair<std::string_view, std::string_view>> pairs) {
        Labels made;
        for (const auto& [key, value] : pairs)
            made.set(words_.string(key), words_.string(value));
        return made;
    }
    Requirement need(std::string_view key, SelectorOp op, std::initializer_list<std::string_view> values = {}) {
        Requirement made{.key = words_.string(key), .op = op, .values = {}};
        for (const std::string_view value : values)
            made.values.push_back(words_.string(value));
        std::sort(made.values.begin(), made.values.end());
        return made;
    }
    Requirement bound(std::string_view key, SelectorOp op, std::int64_t value) {
        Requirement made = need(key, op);
        made.bound = value;
        return made;
    }

    Vocabulary words_;
};

TEST_F(LabelsTest, KeysAreUniqueAndOrderDoesNotMatter) {
    Labels made = labels({{"a", "1"}, {"b", "2"}, {"a", "3"}});
    EXPECT_EQ(made.size(), 2U);
    EXPECT_EQ(words_.text(made.get(words_.string("a"))), "3");
    EXPECT_EQ(made, labels({{"b", "2"}, {"a", "3"}}));
    EXPECT_FALSE(made.has(words_.string("c")));
    EXPECT_FALSE(made.get(StringId()).valid());
}

TEST_F(LabelsTest, EveryOperator) {
    const Labels zone_a = labels({{"zone", "a"}, {"size", "12"}});
    const Labels bare;
    EXPECT_TRUE(need("zone", SelectorOp::kIn, {"b", "a"}).matches(zone_a, words_));
    EXPECT_FALSE(need("zone", SelectorOp::kIn, {"b"}).matches(zone_a, words_));
    EXPECT_FALSE(need("zone", SelectorOp::kIn, {"a"}).matches(bare, words_));
    EXPECT_FALSE(need("zone", SelectorOp::kNotIn, {"a"}).matches(zone_a, words_));
    EXPECT_TRUE(need("zone", SelectorOp::kNotIn, {"b"}).matches(zone_a, words_));
    EXPECT_TRUE(need("zone", SelectorOp::kNotIn, {"a"}).matches(bare, words_));
    EXPECT_TRUE(need("zone", SelectorOp::kExists).matches(zone_a, words_));
    EXPECT_FALSE(need("zone", SelectorOp::kExists).matches(bare, words_));
    EXPECT_FALSE(need("zone", SelectorOp::kDoesNotExist).matches(zone_a, words_));
    EXPECT_TRUE(need("zone", SelectorOp::kDoesNotExist).matches(bare, words_));
}

TEST_F(LabelsTest, GtAndLtCompareIntegers) {
    EXPECT_TRUE(bound("size", SelectorOp::kGt, 9).matches(labels({{"size", "12"}}), words_));
    EXPECT_FALSE(bound("size", SelectorOp::kGt, 12).matches(labels({{"size", "12"}}), words_));
    EXPECT_TRUE(bound("size", SelectorOp::kLt, 100).matches(labels({{"size", "12"}}), words_));
    EXPECT_FALSE(bound("size", SelectorOp::kLt, 12).matches(labels({{"size", "12"}}), words_));
    EXPECT_TRUE(bound("size", SelectorOp::kLt, 0).matches(labels({{"size", "-3"}}), words_));
    EXPECT_TRUE(bound("size", SelectorOp::kGt, 2).matches(labels({{"size", "+003"}}), words_));
    for (const char* text : {"", "big", "12Gi", "1.5", "+", "-", "+-3", " 12", "99999999999999999999"}) {
        EXPECT_FALSE(bound("size", SelectorOp::kGt, -100).matches(labels({{"size", text}}), words_)) << text;
        EXPECT_FALSE(bound("size", SelectorOp::kLt, 100).matches(labels({{"size", text}}), words_)) << text;
    }
    EXPECT_FALSE(bound("size", SelectorOp::kGt, -100).matches(Labels(), words_));
}

TEST_F(LabelsTest, AnEmptyValueIsAValue) {
    const Labels made = labels({{"zone", ""}});
    EXPECT_TRUE(need("zone", SelectorOp::kExists).matches(made, words_));
    EXPECT_TRUE(need("zone", SelectorOp::kIn, {""}).matches(made, words_));
    EXPECT_FALSE(need("zone", SelectorOp::kNotIn, {""}).matches(made, words_));
}

TEST_F(LabelsTest, NullSelectorMatchesNothingEmptyMatchesAll) {
    const Labels made = labels({{"app", "web"}});
    EXPECT_FALSE(LabelSelector{}.matches(made, words_));
    EXPECT_TRUE((LabelSelector{.null = false, .requirements = {}}.matches(made, words_)));
    EXPECT_TRUE((LabelSelector{.null = false, .requirements = {}}.matches(Labels(), words_)));
}

TEST_F(LabelsTest, SelectorNeedsEveryRequirement) {
    LabelSelector selector{.null = false,
                           .requirements = {need("app", SelectorOp::kIn, {"web"}), need("tier", SelectorOp::kExists)}};
    EXPECT_TRUE(selector.matches(labels({{"app", "web"}, {"tier", "1"}}), words_));
    EXPECT_FALSE(selector.matches(labels({{"app", "web"}}), words_));
    EXPECT_FALSE(selector.matches(labels({{"tier", "1"}}), words_));
}

TEST_F(LabelsTest, NodeTermNeedsLabelsAndName) {
    const StringId n1 = words_.string("n1");
    const StringId n2 = words_.string("n2");
    const Labels zone_a = labels({{"zone", "a"}});
    EXPECT_FALSE(NodeSelectorTerm{}.matches(zone_a, n1, words_));

    NodeSelectorTerm by_name;
    by_name.names.push_back({.key = {}, .op = SelectorOp::kIn, .values = {n1}});
    EXPECT_TRUE(by_name.matches(zone_a, n1, words_));
    EXPECT_FALSE(by_name.matches(zone_a, n2, words_));
    by_name.names[0].op = SelectorOp::kNotIn;
    EXPECT_FALSE(by_name.matches(zone_a, n1, words_));
    EXPECT_TRUE(by_name.matches(zone_a, n2, words_));

    by_name.labels.push_back(need("zone", SelectorOp::kIn, {"b"}));
    EXPECT_FALSE(by_name.matches(zone_a, n2, words_));
    EXPECT_TRUE(by_name.matches(labels({{"zone", "b"}}), n2, words_));
}

}  // namespace
}  // namespace reprieve
