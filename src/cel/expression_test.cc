#include "cel/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"

namespace reprieve::cel {
namespace {

const Semver kVersion = *Semver::parse("1.2.3-rc.1");

Device card() {
    return {.driver = "gpu.example.com",
            .attributes = {{"gpu.example.com", "healthy", true},
                           {"gpu.example.com", "index", std::int64_t{2}},
                           {"gpu.example.com", "model", std::string_view("NVIDIA A100-SXM4")},
                           {"gpu.example.com", "version", &kVersion},
                           {"vendor.io", "tag", std::string_view("größe")}},
            .capacity = {{"gpu.example.com", "memory", *parse_nano_quantity("40Gi")}}};
}

// "true", "false", or the error.
std::string answer(std::string_view text, const Device& device = card()) {
    const auto expression = Expression::parse(text);
    if (!expression) return "refused " + expression.error().message;
    const auto matches = expression->matches(device);
    if (!matches) return "fails " + matches.error().message;
    return *matches ? "true" : "false";
}

TEST(ExpressionTest, WhatDriversWrite) {
    for (std::string_view text :
         {R"(device.driver == 'gpu.example.com')",
          R"(device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].index == 2)",
          R"(device.attributes['gpu.example.com'].model.lowerAscii().matches('^.*a100.*$'))",
          R"(device.capacity['gpu.example.com'].memory.compareTo(quantity('40Gi')) >= 0)",
          R"(device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("39.5Gi")))",
          R"(device.attributes["gpu.example.com"].version.isLessThan(semver("1.2.3")))",
          R"(device.attributes["gpu.example.com"].version.major() == 1)",
          R"(device.attributes["gpu.example.com"].healthy)",
          R"(has(device.attributes["gpu.example.com"].index) && !has(device.attributes["other"].index))",
          R"(device.attributes["gpu.example.com"].model in ["x", "NVIDIA A100-SXM4"])",
          R"(device.attributes["gpu.example.com"].?missing.orValue(7) == 7)",
          R"(cel.bind(a, device.attributes["gpu.example.com"], a.index > 1 && a.healthy))",
          R"(device.attributes["gpu.example.com"].exists(k, k == "index"))",
          R"(device.attributes["gpu.example.com"].all(k, k != "z") && "vendor.io" in device.attributes)",
          R"(int(device.attributes["gpu.example.com"].model.substring(7, 11).replace("A", "")) == 100)",
          R"(device.attributes["vendor.io"].tag.size() == 5 && device.attributes["vendor.io"].tag.charAt(2) == "ö")",
          R"("a,b,c".split(",")[2] == "c" && ["a", "b"].join("-") == "a-b")",
          R"(device.allowMultipleAllocations == false)",
          R"(1 + 2 * 3 - 4 / 2 == 5 && -7 % 3 == -1)",
          R"(1 < 1.5 && 9007199254740993 > 9007199254740992.0)",
          R"(quantity("1.5Gi") == quantity("1536Mi") && quantity("2").add(1).asInteger() == 3)",
          R"(isSemver("v1.0", true) && !isSemver("v1.0"))",
          R"([1, 2, 3].filter(x, x > 1).map(x, x * 2) == [4, 6])",
          "device.driver == // a comment\n r'gpu.example.com'"})
        EXPECT_EQ(answer(text), "true") << text;
}

TEST(ExpressionTest, AnErrorIsAbsorbedByTheSideThatDecides) {
    EXPECT_EQ(answer(R"(device.driver == "x" && device.attributes["gpu.example.com"].missing == 1)"), "false");
    EXPECT_EQ(answer(R"(device.attributes["gpu.example.com"].missing == 1 && device.driver == "x")"), "false");
    EXPECT_EQ(answer(R"(device.attributes["gpu.example.com"].missing == 1 || true)"), "true");
    EXPECT_EQ(answer(R"([1, 2].exists(x, device.attributes["gpu.example.com"].missing == x || x == 2))"), "true");
    EXPECT_EQ(answer(R"(device.attributes["gpu.example.com"].missing == 1 || false)"),
              "fails no such key: missing (at 1:38)");
}

TEST(ExpressionTest, TypesDecideWhenTheyAreKnown) {
    EXPECT_EQ(answer(R"(device.attributes["gpu.example.com"].index == "2")"), "false");
    EXPECT_EQ(answer(R"(device.attributes["gpu.example.com"].index < "2")"), "fails no such overload (at 1:44)");
    EXPECT_EQ(answer(R"(device.attributes["gpu.example.com"].index)"), "fails must evaluate to bool, not int");
    EXPECT_EQ(answer("device.driver"), "refused 1:1: must evaluate to bool, not string");
    EXPECT_EQ(answer("device.driver == 1"),
              "refused 1:15: found no matching overload for '_==_' applied to '(string, int)'");
    EXPECT_EQ(answer("true || device.driver < 1"),
              "refused 1:23: found no matching overload for '_<_' applied to '(string, int)'");
    EXPECT_EQ(answer("device.nothing"), "refused 1:8: undefined field 'nothing'");
}

TEST(ExpressionTest, WhatIsNotInTheSubsetIsRefusedWithItsPlace) {
    EXPECT_EQ(answer("?!"), "refused 1:1: syntax error: unexpected '?'");
    EXPECT_EQ(answer("noSuchVar"), "refused 1:1: undeclared reference to 'noSuchVar'");
    EXPECT_EQ(answer("true &&\n  foo()"), "refused 2:3: undeclared reference to 'foo'");
    EXPECT_EQ(answer("device.driver = 'a'"), "refused 1:15: syntax error: unexpected '='");
    EXPECT_EQ(answer("1 >= 80g"), "refused 1:8: syntax error: unexpected 'g'");
    EXPECT_EQ(answer("{'a': 1}['a'] == 1"), "refused 1:1: maps are not supported");
    EXPECT_EQ(answer("1u == 1"), "refused 1:1: unsigned integers are not supported");
    EXPECT_EQ(answer("true)"), "refused 1:5: syntax error: unexpected ')'");
    EXPECT_EQ(answer(""), "refused 1:1: syntax error: unexpected 'end of the expression'");
    EXPECT_EQ(answer("\"open"), "refused 1:1: syntax error: the string does not end");
}

TEST(ExpressionTest, SizeDepthAndWorkAreBounded) {
    EXPECT_EQ(answer(std::string(kTextMax + 1, ' ')), "refused the expression has 10241 bytes, 10240 are allowed");
    const std::string deep = std::string(200, '(') + "true" + std::string(200, ')');
    EXPECT_EQ(answer(deep), "refused 1:101: the expression is nested too deep");
    std::string sum = "1";
    for (int i = 0; i < 1000; ++i)
        sum += "+1";
    EXPECT_NE(answer(sum + " == 1001").find("nested too deep"), std::string::npos);
    std::string wide = "true";
    for (int i = 0; i < 1000; ++i)
        wide += "&&true";
    EXPECT_EQ(answer(wide), "true");
    std::string loop = "true";
    for (int i = 0; i < 7; ++i)
        loop = "[1,2,3,4,5,6,7,8,9,10].all(x" + std::to_string(i) + ", " + loop + ")";
    EXPECT_NE(answer(loop).find("cost limit exceeded"), std::string::npos);
}

TEST(ExpressionTest, ArithmeticThatDoesNotFitIsAnError) {
    EXPECT_EQ(answer("9223372036854775807 + 1 > 0"), "fails integer overflow (at 1:21)");
    EXPECT_EQ(answer("-9223372036854775808 < 0"), "true");
    EXPECT_EQ(answer("9223372036854775808 > 0"), "refused 1:1: syntax error: invalid int literal");
    EXPECT_EQ(answer("1 / 0 == 1"), "fails division by zero (at 1:3)");
}

TEST(ExpressionTest, AListHasOneType) {
    EXPECT_EQ(answer("'a' in ['a', 'b']"), "true");
    EXPECT_THAT(answer("'a' in ['a', 1]"),
                ::testing::HasSubstr("refused 1:14: expected type 'string' but found 'int'"));
    EXPECT_THAT(answer("'a' in [device.attributes['d'].x, 'a']"),
                ::testing::HasSubstr("refused 1:35: expected type 'dyn'"));
}

TEST(ExpressionTest, QuantitiesAndVersionsAreEqualOnlyToTheirOwnKind) {
    EXPECT_THAT(answer("dyn(semver('1.0.0')) == dyn(1)"), ::testing::HasSubstr("fails no such overload"));
    EXPECT_EQ(answer("dyn(quantity('1')) != dyn('1')"), "true");
    EXPECT_EQ(answer("dyn(1) == dyn(semver('1.0.0'))"), "false");
    EXPECT_EQ(answer("sign(quantity('-2')) == -1"), "true");
}

TEST(ExpressionTest, ASearchThatStartsBehindTheEndFindsNothing) {
    EXPECT_EQ(answer("'hello'.indexOf('l', 5) == -1"), "true");
    EXPECT_EQ(answer("'hello'.indexOf('l', 99) == -1"), "true");
    EXPECT_EQ(answer("'hello'.indexOf('', 99) == 5"), "true");
    EXPECT_EQ(answer("'hello'.lastIndexOf('l', 4) == 3"), "true");
    EXPECT_EQ(answer("'hello'.lastIndexOf('l', 5) == -1"), "true");
    EXPECT_EQ(answer("'hello'.lastIndexOf('', 99) == 5"), "true");
    EXPECT_EQ(answer("'hello'.indexOf('l', -1) == 2"), "fails index out of range: -1 (at 1:9)");
}

}  // namespace
}  // namespace reprieve::cel
