// Finding the end of values, and the faults in them.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "manifest/bracket_scan.h"
#include "manifest/json_syntax.h"
#include "manifest/text_scan.h"

namespace reprieve {
namespace {

// The same by looking at one byte after the other.
std::optional<std::size_t> plain_end(std::string_view text) {
    int depth = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted && c == '\\') {
            ++i;
        } else if (c == '\\') {
            ++i;  // no JSON, but brackets and quotes behind it are escaped all the same
        } else if (c == '"') {
            quoted = !quoted;
        } else if (!quoted && (c == '{' || c == '[')) {
            ++depth;
        } else if (!quoted && (c == '}' || c == ']')) {
            if (--depth == 0) return i + 1;
        }
    }
    return std::nullopt;
}

std::optional<std::size_t> scanned_end(const std::string& text, std::size_t first_piece) {
    std::string padded = text + std::string(64, '\0');
    BracketScan scan;
    const std::string_view whole = std::string_view(padded).substr(0, text.size());
    if (const auto end = scan.find_end(whole.substr(0, std::min(first_piece, whole.size())))) return end;
    return scan.find_end(whole);
}

TEST(BracketScan, FindsTheEnd) {
    EXPECT_EQ(scanned_end("{}", 2), 2U);
    EXPECT_EQ(scanned_end("{} x", 4), 2U);
    EXPECT_EQ(scanned_end(R"({"a":"}]\"}"})", 100), 13U);
    EXPECT_EQ(scanned_end("{", 1), std::nullopt);
    EXPECT_EQ(scanned_end(R"({"a":"})", 100), std::nullopt);
    EXPECT_EQ(scanned_end("[" + std::string(500, ' ') + "]", 64), 502U);
}

// Quotes, brackets and rows of backslashes across the edges of blocks, read in one piece or two.
TEST(BracketScan, AgreesWithTheSlowWay) {
    rc::check([] {
        const auto middle =
            *rc::gen::container<std::string>(rc::gen::element('{', '}', '[', ']', '"', '"', '\\', '\\', 'a', ' '));
        const auto spaces = *rc::gen::inRange(0, 80);
        const auto piece = *rc::gen::inRange<std::size_t>(1, 200);
        std::string text = "{" + std::string(static_cast<std::size_t>(spaces), 'x') + middle + "\"\"}}}]]]}}}";
        // A backslash outside of strings escapes brackets in the slow way only: there it must not stand.
        bool quoted = false;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '\\' && !quoted) text[i] = 'b';
            if (text[i] == '\\')
                ++i;
            else if (text[i] == '"')
                quoted = !quoted;
        }
        RC_ASSERT(scanned_end(text, piece) == plain_end(text));
    });
}

TEST(TextScan, CountsLines) {
    std::string text;
    for (int i = 0; i < 300; ++i)
        text += i % 3 == 0 ? '\n' : 'x';
    EXPECT_EQ(count_lines(text.data(), text.size()), 100U);
    EXPECT_EQ(count_lines(text.data(), 0), 0U);
    EXPECT_EQ(count_lines(text.data() + 1, 3), 1U);
}

TEST(TextScan, FindsTheEndOfStrings) {
    const std::string text = R"(0123456789abcdef" and more)";
    EXPECT_EQ(scan_text(text.data()).size, 16U);
    EXPECT_FALSE(scan_text(text.data()).escapes);
    const std::string escaped = R"(01234567\"\\" padding)";
    EXPECT_TRUE(scan_text(escaped.data()).escapes);
    EXPECT_EQ(whole_text_size(escaped.data()), 12U);
}

TEST(JsonSyntax, GoodValues) {
    for (const std::string_view text :
         {"{}", "[]", " {\"a\" : [1, -2.5e+3, true, false, null, \"\\u00e9\\n\"] } ", "\"x\"", "0", "[[[]]]"}) {
        EXPECT_EQ(scan_json(text).fault, "") << text;
    }
    EXPECT_EQ(scan_json("{} {}").end, 2U);
    EXPECT_EQ(scan_json("  {} {}", 4).end, 7U);
}

TEST(JsonSyntax, FaultsAndTheirPlaces) {
    const auto fault = [](std::string_view text) {
        const JsonSpan span = scan_json(text);
        return std::to_string(span.end) + " " + span.fault;
    };
    EXPECT_EQ(fault("{\"a\" 1}"), "5 expected : after the key");
    EXPECT_EQ(fault("{a:1}"), "1 expected a key in quotes");
    EXPECT_EQ(fault("[1 2]"), "3 expected , or ]");
    EXPECT_EQ(fault("{\"a\":1,}"), "7 expected a key in quotes");
    EXPECT_EQ(fault("[01]"), "3 a number with a leading zero");
    EXPECT_EQ(fault("[1.]"), "3 a malformed number");
    EXPECT_EQ(fault("[-]"), "2 a malformed number");
    EXPECT_EQ(fault("[1e]"), "3 a malformed number");
    EXPECT_EQ(fault("[nul]"), "1 expected a value");
    EXPECT_EQ(fault("[\"\\x\"]"), "3 a bad escape sequence");
    EXPECT_EQ(fault("[\"\\u12g4\"]"), "6 a bad escape sequence");
    EXPECT_EQ(fault("[\"a\nb\"]"), "3 a control character or line break in a string");
    EXPECT_EQ(fault("{\"a\":{}"), "7 the text ends too early");
    EXPECT_EQ(fault("[\"abc"), "5 the text ends too early");
    EXPECT_EQ(fault(""), "0 the text ends too early");
    EXPECT_EQ(fault("[]]").substr(0, 1), "2");
    EXPECT_EQ(fault(std::string(5000, '[')), "1001 nested too deeply");
}

}  // namespace
}  // namespace reprieve
