#include "text/table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace reprieve {
namespace {

std::string print(const Table& table, const TableStyle& style = {}) {
    std::string out;
    table.print(out, style);
    return out;
}

TEST(Table, AlignsByCells) {
    Table table("Things", {{"NAME"}, {"COUNT", ColumnKind::kNumber}, {"WHERE"}});
    table.add({.cells = {{"a"}, {"7"}, {"here"}}, .notes = {}});
    table.add({.cells = {{"日本語"}, {"1234567"}, {"there"}}, .notes = {}});
    EXPECT_EQ(print(table),
              "Things (2)\n"
              "  NAME      COUNT  WHERE\n"
              "  a             7  here\n"
              "  日本語  1234567  there\n");
}

TEST(Table, LeavesOutColumnsThatSayNothing) {
    Table table("Things", {{"NAME"}, {"EMPTY"}, {"SOME"}});
    table.add({.cells = {{"a"}, {}, {}}, .notes = {}});
    table.add({.cells = {{"b"}, {}, {"x"}}, .notes = {}});
    EXPECT_EQ(print(table),
              "Things (2)\n"
              "  NAME  SOME\n"
              "  a\n"
              "  b     x\n");
}

TEST(Table, ShortensTheWidestNamesOnANarrowTerminal) {
    Table table("Things", {{"NAME"}, {"N", ColumnKind::kNumber}, {"NODE"}});
    table.add({.cells = {{"team-a/training-with-a-long-name-0"}, {"100000000000000"}, {"n1"}}, .notes = {}});
    EXPECT_EQ(print(table, {.width = 45}),
              "Things (1)\n"
              "  NAME                                N  NODE\n"
              "  team-a/tr…ong-name-0  100000000000000  n1\n");
    EXPECT_NE(print(table, {.width = 58}).find("team-a/training-…th-a-long-name-0"), std::string::npos);
    EXPECT_NE(print(table, {.width = 59}).find("team-a/training-with-a-long-name-0"), std::string::npos);
    EXPECT_NE(print(table).find("team-a/training-with-a-long-name-0"), std::string::npos);
}

TEST(Table, NeverShortensWordsOrMakesTwoNamesOne) {
    Table table("Things", {{"NODE"}, {"WHEN", ColumnKind::kWord}});
    table.add({.cells = {{"worker-node-0.compute.internal"}, {"after evictions"}}, .notes = {}});
    table.add({.cells = {{"worker-node-0.compute.internal"}, {"now"}}, .notes = {}});
    EXPECT_EQ(print(table, {.width = 31}),
              "Things (2)\n"
              "  NODE          WHEN\n"
              "  worke…ternal  after evictions\n"
              "  worke…ternal  now\n");
    table.add({.cells = {{"worker-node-1.compute.internal"}, {"now"}}, .notes = {}});
    EXPECT_EQ(print(table, {.width = 31}),
              "Things (3)\n"
              "  NODE                            WHEN\n"
              "  worker-node-0.compute.internal  after evictions\n"
              "  worker-node-0.compute.internal  now\n"
              "  worker-node-1.compute.internal  now\n");
}

TEST(Table, KeepsEnoughOfANameHoweverNarrow) {
    Table table("Things", {{"NAME"}});
    table.add({.cells = {{"abcdefghijklmnopqrstuvwxyz"}}, .notes = {}});
    EXPECT_EQ(print(table, {.width = 3}), "Things (1)\n  NAME\n  abcde…uvwxyz\n");
}

TEST(Table, OneEndlessNameDoesNotPadTheOthers) {
    Table table("Things", {{"NAME"}, {"N"}});
    table.add({.cells = {{std::string(5000, 'x')}, {"1"}}, .notes = {}});
    table.add({.cells = {{"a"}, {"2"}}, .notes = {}});
    const std::string out = print(table);
    EXPECT_NE(out.find(std::string(5000, 'x') + "  1\n"), std::string::npos);
    EXPECT_TRUE(out.ends_with("  a" + std::string(321, ' ') + "2\n"));
}

TEST(Table, EndlessNamesThatDifferInTheMiddleAreShortenedAllTheSame) {
    Table table("Things", {{"NAME"}});
    const std::string half(1'000'000, 'x');
    table.add({.cells = {{half + "1" + half}}, .notes = {}});
    table.add({.cells = {{half + "2" + half}}, .notes = {}});
    const std::string line = "  " + std::string(159, 'x') + "…" + std::string(160, 'x') + "\n";
    EXPECT_EQ(print(table, {.width = 80}), "Things (2)\n  NAME\n" + line + line);
}

TEST(Table, NotesStandBelowTheirRow) {
    Table table("Things", {{"NAME"}});
    table.add({.cells = {{"a"}}, .notes = {{"cost", {"pods 1 ·", "units 2"}}, {"runner-up", {"pods 3"}}}});
    table.add({.cells = {{"b"}}, .notes = {sentence("why this is so and not otherwise")}});
    EXPECT_EQ(print(table),
              "Things (2)\n"
              "  NAME\n"
              "  a\n"
              "    cost       pods 1 · units 2\n"
              "    runner-up  pods 3\n"
              "  b\n"
              "    why this is so and not otherwise\n");
    EXPECT_EQ(print(table, {.width = 25}),
              "Things (2)\n"
              "  NAME\n"
              "  a\n"
              "    cost       pods 1 · units 2\n"
              "    runner-up  pods 3\n"
              "  b\n"
              "    why this is so and\n"
              "    not otherwise\n");
}

TEST(Table, NeighboursShareANote) {
    Table table("Things", {{"NAME"}}, true);
    for (const char* name : {"a", "b", "c"})
        table.add({.cells = {{name}}, .notes = {sentence("same"), sentence("more")}});
    table.add({.cells = {{"d"}}, .notes = {sentence("other")}});
    EXPECT_EQ(print(table),
              "Things (4)\n"
              "  NAME\n"
              "  a\n"
              "  b\n"
              "  c\n"
              "    these 3: same\n"
              "    more\n"
              "  d\n"
              "    other\n");
}

TEST(Table, WithoutColumnsRowsAreTheirNotes) {
    Table table("Warnings", {});
    table.add({.cells = {}, .notes = {sentence("mind the gap between the platform")}});
    EXPECT_EQ(print(table, {.width = 26}), "Warnings (1)\n  mind the gap between the\n  platform\n");
}

Table of_rows(int count) {
    Table table("Things", {{"NAME"}});
    for (int i = 0; i < count; ++i)
        table.add({.cells = {{fmt::format("row-{}", i)}}, .notes = {}});
    return table;
}

TEST(Table, CutsLongOnesOnATerminalOnly) {
    const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
    EXPECT_EQ(lines(print(of_rows(40), {.width = 80})), 42);
    const std::string cut = print(of_rows(1000), {.width = 80});
    EXPECT_EQ(lines(cut), 33);
    EXPECT_TRUE(cut.starts_with("Things (1000)\n"));
    EXPECT_TRUE(cut.ends_with("  row-29\n  … 970 more (use -o json for all)\n"));
    EXPECT_EQ(lines(print(of_rows(1000))), 1002);
}

TEST(Table, PaintsTextAndNotTheSpaceAroundIt) {
    Table table("Things", {{"NAME"}, {"N", ColumnKind::kNumber}});
    table.add({.cells = {{"a", Paint::kRed}, {"1", Paint::kGreen}}, .notes = {sentence("why")}});
    EXPECT_EQ(print(table, {.colour = true}),
              "\x1b[1mThings\x1b[0m (1)\n"
              "  \x1b[2mNAME\x1b[0m  \x1b[2mN\x1b[0m\n"
              "  \x1b[31ma\x1b[0m     \x1b[32m1\x1b[0m\n"
              "    \x1b[2mwhy\x1b[0m\n");
}

TEST(Table, WhatGoesInIsMadeHarmless) {
    Table table("Things", {{"N\x1bM"}});
    table.add({.cells = {{"a\nb"}}, .notes = {{"l\r", {"\x1b[2J"}}}});
    EXPECT_EQ(print(table), "Things (1)\n  N\\x1bM\n  a\\nb\n    l\\r  \\x1b[2J\n");
}

}  // namespace
}  // namespace reprieve
