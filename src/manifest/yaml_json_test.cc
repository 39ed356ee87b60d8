#include "manifest/yaml_json.h"

#include <gtest/gtest.h>

namespace reprieve {
namespace {

// The first document as JSON, or what is wrong with it.
std::string json_of(std::string_view yaml) {
    YamlDocuments documents(yaml);
    YamlDocument document;
    const auto more = documents.next(document);
    if (!more) return std::to_string(more.error().line) + ": " + more.error().what;
    return *more ? document.json : "nothing";
}

TEST(YamlJson, ScalarsOfTheCoreSchema) {
    EXPECT_EQ(json_of("[true, False, null, ~, yes, on]"), R"([true,false,null,null,"yes","on"])");
    EXPECT_EQ(json_of("[1, -2, +3, 007, 0x1F, 0o17, 1_000]"), R"([1,-2,3,7,31,15,"1_000"])");
    EXPECT_EQ(json_of("[1.5, .5, 2., -0.25, 1e3, 1E-3, 2e+4, .inf, .nan, 1.2.3, -, .]"),
              R"([1.5,0.5,2.0,-0.25,1e3,1e-3,2e4,".inf",".nan","1.2.3","-","."])");
    EXPECT_EQ(json_of("[99999999999999999999999, 0xFFFFFFFFFFFFFFFFFF]"),
              R"([99999999999999999999999,"0xFFFFFFFFFFFFFFFFFF"])");
    EXPECT_EQ(json_of("['1', \"true\", !!str 5, !!int \"5\", 100m, 1.5Gi]"), R"(["1","true","5",5,"100m","1.5Gi"])");
}

TEST(YamlJson, StringsAreEscaped) {
    EXPECT_EQ(json_of("\"a\\\"b\\\\c\\n\\x01\\u00e9\""), "\"a\\\"b\\\\c\\u000a\\u0001\u00e9\"");
    EXPECT_EQ(json_of("a: |\n  x\n  y\n"), R"({"a":"x\u000ay\u000a"})");
}

TEST(YamlJson, KeysAreStrings) {
    EXPECT_EQ(json_of("1: a\ntrue: b\n"), R"({"1":"a","true":"b"})");
    EXPECT_EQ(json_of("? [a]\n: b\n"), "1: a key must be a string");
    EXPECT_EQ(json_of("a: 1\nb: 2\na: 3\n"), "3: the key \"a\" is written twice");
}

TEST(YamlJson, EmptyThings) {
    EXPECT_EQ(json_of(""), "nothing");
    EXPECT_EQ(json_of("a:\nb: {}\nc: []\n"), R"({"a":null,"b":{},"c":[]})");
}

TEST(YamlJson, AnchorsAndMerges) {
    EXPECT_EQ(json_of("a: &x [1, 2]\nb: *x\n"), R"({"a":[1,2],"b":[1,2]})");
    EXPECT_EQ(json_of("a: &x 5\nb: [*x, *x]\n"), R"({"a":5,"b":[5,5]})");
    EXPECT_EQ(json_of("a: &x {k: 1, l: 2}\nb:\n  <<: *x\n  k: 9\n"), R"({"a":{"k":1,"l":2},"b":{"k":9,"l":2}})");
    EXPECT_EQ(json_of("a: &x {k: 1}\nb: &y {<<: *x, l: 2}\nc: {<<: *y}\n"),
              R"({"a":{"k":1},"b":{"l":2,"k":1},"c":{"l":2,"k":1}})");
    EXPECT_EQ(json_of("a: &x 5\nb: {<<: *x}\n"), "2: a merge key (<<) must be an alias of a map");
    EXPECT_EQ(json_of("b: {<<: {a: 1}}\n"), "1: a merge key (<<) must be an alias of a map");
    EXPECT_EQ(json_of("a: &x [*x]\n"), "1: an alias inside the value that it stands for");
    EXPECT_EQ(json_of("b: {\"<<\": 1}\n"), R"({"b":{"<<":1}})");
    EXPECT_EQ(json_of("a: *nobody\n").substr(0, 17), "1: not valid YAML");
}

TEST(YamlJson, LinesOfValues) {
    YamlDocuments documents("a: 1\nb:\n  - x\n  - y: 5\n---\n\nc: 2\n");
    YamlDocument document;
    ASSERT_TRUE(*documents.next(document));
    ASSERT_EQ(document.json, R"({"a":1,"b":["x",{"y":5}]})");
    const auto line = [&](std::string_view text) { return document.line_at(document.json.find(text)); };
    EXPECT_EQ(line("1"), 1U);
    EXPECT_EQ(line("\"x\""), 3U);
    EXPECT_EQ(line("5"), 4U);
    ASSERT_TRUE(*documents.next(document));
    EXPECT_EQ(document.line_at(document.json.find('2')), 7U);
    EXPECT_FALSE(*documents.next(document));
}

TEST(YamlJson, StrayPunctuationEnds) {
    for (const char* text : {", a", "]", "}", "a: b\n---\n, c\n"}) {
        YamlDocuments documents(text);
        YamlDocument document;
        int count = 0;
        auto more = documents.next(document);
        for (; more && *more && count < 100; ++count)
            more = documents.next(document);
        EXPECT_FALSE(more) << text;
    }
}

TEST(YamlJson, DepthIsLimited) {
    EXPECT_EQ(json_of(std::string(100, '[') + std::string(100, ']')), std::string(100, '[') + std::string(100, ']'));
    EXPECT_EQ(json_of(std::string(101, '[') + std::string(101, ']')), "1: nested deeper than 100 levels");
}

}  // namespace
}  // namespace reprieve
