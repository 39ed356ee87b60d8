#include "text/plan_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace reprieve {
namespace {

constexpr TableStyle kPiped{};

std::string first_line(const Plan& plan, const TableStyle& style = kPiped) {
    const std::string text = plan_to_table(plan, style);
    return text.substr(0, text.find('\n'));
}

// What follows the summary and the empty line.
std::string sections(const Plan& plan, const TableStyle& style = kPiped) {
    const std::string text = plan_to_table(plan, style);
    const std::size_t start = text.find("\n\n");
    return start == std::string::npos ? "" : text.substr(start + 2);
}

Eviction eviction(std::string pod, std::string reason) {
    return {.pod = std::move(pod), .node = "n1", .owner = "ml/train", .action = "preempt", .reason = std::move(reason)};
}

TEST(PlanTable, NothingToDoIsOneLine) { EXPECT_EQ(plan_to_table({}, kPiped), "Nothing to do\n"); }

TEST(PlanTable, TheFirstLineSumsUp) {
    Plan plan;
    plan.placements = {{.pod = "a"}, {.pod = "b"}, {.pod = "c"}};
    EXPECT_EQ(first_line(plan), "3 placed now");
    plan.placements.push_back({.pod = "d", .after_evictions = true});
    plan.unplaced = {{.pod = "e"}, {.owner = "web/h", .replicas = 2}};
    EXPECT_EQ(first_line(plan), "3 placed now, 1 after evictions, 3 unplaced");
    plan.evictions = {eviction("x", "")};
    EXPECT_EQ(first_line(plan), "3 placed now, 1 after evictions, 3 unplaced; 1 pod evicted");
    plan.evictions.push_back(eviction("y", ""));
    plan.evictions.back().pdb_violation = true;
    EXPECT_EQ(first_line(plan),
              "3 placed now, 1 after evictions, 3 unplaced; 2 pods evicted (1 over a disruption budget)");
}

TEST(PlanTable, ChangesWithoutDemandsAreSummedUpToo) {
    Plan plan;
    plan.nominations_cleared = {"a"};
    plan.scale = {{}, {}};
    plan.annotations = {{.pod = "a", .set = {}, .remove = {"k"}}};
    EXPECT_EQ(first_line(plan), "1 nomination cleared, 2 scale changes, 1 pod annotated");
}

TEST(PlanTable, Placements) {
    Plan plan;
    plan.placements = {{.pod = "ml/train-0",
                        .node = "gpu-1",
                        .devices = {"0", "1:4Gi"},
                        .after_evictions = true,
                        .owner = "ml/train",
                        .domain = "rack-1",
                        .action = "gangPreempt"},
                       {.pod = "web/api", .node = "n12", .action = "allocate"}};
    EXPECT_EQ(sections(plan),
              "Placements (2)\n"
              "  POD         NODE   DEVICES  WHEN             FOR       DOMAIN  ACTION\n"
              "  ml/train-0  gpu-1  0,1:4Gi  after evictions  ml/train  rack-1  gangPreempt\n"
              "  web/api     n12             now                                allocate\n");
}

TEST(PlanTable, EvictionsSayWhyOnceForNeighbours) {
    Plan plan;
    plan.evictions = {eviction("batch/a-0", "gang of priority 10"),
                      eviction("batch/a-1", "gang of priority 10"),
                      eviction("batch/b", "priority 5 makes room")};
    for (std::size_t i = 0; i < 2; ++i) {
        plan.evictions[i].unit = UnitKind::kWhole;
        plan.evictions[i].group = "batch/a";
    }
    plan.evictions[2].pdb_violation = true;
    plan.evictions[2].mode = EvictionMode::kEvict;
    EXPECT_EQ(sections(plan),
              "Evictions (3)\n"
              "  POD        NODE  UNIT   GROUP    FOR       ACTION   MODE    PDB\n"
              "  batch/a-0  n1    whole  batch/a  ml/train  preempt  delete\n"
              "  batch/a-1  n1    whole  batch/a  ml/train  preempt  delete\n"
              "    these 2: gang of priority 10\n"
              "  batch/b    n1    pod             ml/train  preempt  evict   violated\n"
              "    priority 5 makes room\n");
}

TEST(PlanTable, CertificatesShowCostAndRunnerUp) {
    Plan plan;
    plan.certificates = {
        {.owner = "ml/a",
         .action = "preempt",
         .status = CertificateStatus::kOptimal,
         .cost = {{"pdbViolations", 0}, {"maxPriority", 10}, {"latestStart", -1'767'268'800}},
         .bound = {{"pdbViolations", 0}, {"maxPriority", 10}, {"latestStart", -1'767'268'800}},
         .runner_up = {{"pdbViolations", 0}, {"maxPriority", 20}, {"latestStart", 0}}},
        {.owner = "ml/b",
         .action = "gangPreempt",
         .status = CertificateStatus::kGap,
         .cost = {{"pdbViolations", 0}, {"pods", 4}},
         .bound = {{"pdbViolations", 0}, {"pods", 3}},
         .runner_up = {{"pdbViolations", 0}, {"pods", 4}}},
        {.owner = "ml/c", .action = "preempt", .status = CertificateStatus::kHeuristic, .cost = {{"pods", 1}}},
        {.owner = "ml/d",
         .action = "gangPreempt",
         .status = CertificateStatus::kInfeasible,
         .binding = "rack r3 can free 56 of 64 GPUs"},
    };
    EXPECT_EQ(sections(plan),
              "Freed for whom, at what cost (4)\n"
              "  FOR   ACTION       STATUS\n"
              "  ml/a  preempt      optimal\n"
              "    cost       pdbViolations 0 · maxPriority 10 · latestStart 2026-01-01T12:00:00Z\n"
              "    runner-up  pdbViolations 0 · maxPriority 20 · latestStart 0 (worse in maxPriority)\n"
              "  ml/b  gangPreempt  gap\n"
              "    cost       pdbViolations 0 · pods 4\n"
              "    bound      pdbViolations 0 · pods 3 (not proven from pods on)\n"
              "    runner-up  pdbViolations 0 · pods 4 (costs the same)\n"
              "  ml/c  preempt      heuristic\n"
              "    cost  pods 1\n"
              "  ml/d  gangPreempt  infeasible\n"
              "    because  rack r3 can free 56 of 64 GPUs\n");
}

TEST(PlanTable, UnplacedSayWhyAndHowManyNodes) {
    Plan plan;
    plan.unplaced = {
        {.pod = "a/one",
         .reason = "queue a is at its limit",
         .nodes = {{"Insufficient cpu", 2}, {"node(s) tainted", 12}}},
        {.pod = "a/two",
         .never = true,
         .reason = "0 of 3 nodes fit: 3 Insufficient cpu",
         .nodes = {{"Insufficient cpu", 3}}},
        {.owner = "web/h", .replicas = 12, .reason = "no plane has room"},
    };
    EXPECT_EQ(sections(plan),
              "Unplaced (3)\n"
              "  POD    REPLICAS  FOR    VERDICT\n"
              "  a/one                   not now\n"
              "    queue a is at its limit\n"
              "    nodes: 12 node(s) tainted, 2 Insufficient cpu\n"
              "  a/two                   never\n"
              "    0 of 3 nodes fit: 3 Insufficient cpu\n"
              "               12  web/h  not now\n"
              "    no plane has room\n");
}

TEST(PlanTable, AProofOfInfeasibilityStandsWithWhatIsUnplaced) {
    Plan plan;
    plan.unplaced = {{.pod = "a/p", .reason = "0 of 1 nodes fit"},
                     {.pod = "ml/g-0", .owner = "ml/g", .reason = "not enough room"}};
    plan.certificates = {
        {.owner = "a/p", .action = "preempt", .status = CertificateStatus::kInfeasible, .binding = "0 of 1 nodes fit"},
        {.owner = "ml/g",
         .action = "gangPreempt",
         .status = CertificateStatus::kInfeasible,
         .binding = "rack r3 can free 56 of 64 GPUs"},
        {.owner = "ml/g",
         .action = "gangReclaim",
         .status = CertificateStatus::kInfeasible,
         .binding = "not enough room"},
    };
    EXPECT_EQ(sections(plan),
              "Unplaced (2)\n"
              "  POD     FOR   VERDICT  PROOF\n"
              "  a/p           not now  infeasible (preempt)\n"
              "    0 of 1 nodes fit\n"
              "  ml/g-0  ml/g  not now  infeasible (gangPreempt, gangReclaim)\n"
              "    not enough room\n"
              "    rack r3 can free 56 of 64 GPUs\n");
}

TEST(PlanTable, ARefusalWithoutAProofIsNotCalledInfeasible) {
    Plan plan;
    plan.unplaced = {{.pod = "ml/g-0", .owner = "ml/g", .reason = "not enough room"}};
    plan.certificates = {
        {.owner = "ml/g", .action = "gangPreempt", .status = CertificateStatus::kUnknown, .binding = "not enough room"},
        {.owner = "ml/g",
         .action = "gangReclaim",
         .status = CertificateStatus::kInfeasible,
         .binding = "not enough room"},
    };
    EXPECT_EQ(sections(plan),
              "Unplaced (1)\n"
              "  POD     FOR   VERDICT  PROOF\n"
              "  ml/g-0  ml/g  not now  infeasible (gangReclaim), unknown (gangPreempt)\n"
              "    not enough room\n");
}

TEST(PlanTable, ServingChanges) {
    Plan plan;
    plan.nominations_cleared = {"a/p"};
    plan.scale = {{.deployment = "web/h", .plane = "w1", .from = 12, .to = 9, .hints = {"web/h-1", "web/h-2"}},
                  {.deployment = "web/long", .plane = "w2", .from = 0, .to = 1, .hints = {}}};
    plan.force_deletes = {"web/h-3"};
    plan.matches = {{.owner = "web/top",
                     .node = "n1",
                     .victims = {{.pod = "web/h-1", .as = "Normal"}, {.pod = "web/h-3", .as = "Terminating"}},
                     .uses_free = 2},
                    {.owner = "web/top", .node = "n2", .victims = {}, .uses_free = 0}};
    plan.annotations = {{.pod = "web/h-1", .set = {{"reprieve.dev/claimed-by", "web/top"}}, .remove = {"old"}}};
    EXPECT_EQ(sections(plan),
              "Nominations cleared (1)\n"
              "  POD\n"
              "  a/p\n"
              "\n"
              "Scale (2)\n"
              "  DEPLOYMENT  PLANE  FROM  TO\n"
              "  web/h       w1       12   9\n"
              "    removes web/h-1, web/h-2\n"
              "  web/long    w2        0   1\n"
              "\n"
              "Force deletes (1)\n"
              "  POD\n"
              "  web/h-3\n"
              "\n"
              "Matches (2)\n"
              "  FOR      NODE  FREE DEVICES\n"
              "  web/top  n1               2\n"
              "    takes web/h-1 (Normal), web/h-3 (Terminating)\n"
              "  web/top  n2               0\n"
              "    in room that others of this plan leave over\n"
              "\n"
              "Annotations (1)\n"
              "  POD      CHANGE  KEY                      VALUE\n"
              "  web/h-1  set     reprieve.dev/claimed-by  web/top\n"
              "  web/h-1  remove  old\n");
}

TEST(PlanTable, QueuesInQuantitiesForPeople) {
    constexpr std::int64_t kGi = std::int64_t{1} << 30;
    Plan plan;
    plan.queues = {
        {.name = "a",
         .shares = {{"used", {{"cpu", 1500}, {"memory", 12 * kGi}}},
                    {"usedLive", {{"cpu", 1000}, {"memory", 8 * kGi}}},
                    {"min", {{"cpu", 2000}}}}},
        {.name = "b", .shares = {{"deserved", {{"nvidia.com/gpu", 16}}}, {"used", {{"nvidia.com/gpu", 0}}}}},
    };
    EXPECT_EQ(plan_to_table(plan, kPiped),
              "Nothing to do\n"
              "\n"
              "Queues (2)\n"
              "  QUEUE  RESOURCE        DESERVED  USED  USED LIVE  MIN\n"
              "  a      cpu                    -   1.5          1    2\n"
              "  a      memory                 -  12Gi        8Gi    -\n"
              "  b      nvidia.com/gpu        16     0          -    -\n");
}

TEST(PlanTable, BalancedQueuesShowWhatIsStillToCome) {
    constexpr std::int64_t kGi = std::int64_t{1} << 30;
    const auto queue = [&](std::string name, std::int64_t deserved, std::int64_t allocated, std::int64_t used) {
        return QueueReport{.name = std::move(name),
                           .shares = {{"deserved", {{"cpu", deserved}, {"memory", 6 * kGi}}},
                                      {"allocated", {{"cpu", allocated}, {"memory", 6 * kGi}}},
                                      {"used", {{"cpu", used}, {"memory", kGi}}},
                                      {"usedLive", {{"cpu", used}, {"memory", kGi}}},
                                      {"preempting", {{"cpu", deserved - allocated}, {"memory", 0}}}}};
    };
    Plan plan;
    plan.queues = {queue("a", 2000, 2000, 2000), queue("b", 4000, 4000, 0)};
    EXPECT_EQ(sections(plan),
              "Queues (2)\n"
              "  QUEUE  RESOURCE  DESERVED  ALLOCATED  USED\n"
              "  a      cpu              2          2     2\n"
              "  a      memory         6Gi        6Gi   1Gi\n"
              "  b      cpu              4          4     0\n"
              "  b      memory         6Gi        6Gi   1Gi\n");
    plan.queues = {queue("a", 2000, 2000, 3000), queue("b", 4000, 3000, 0)};
    EXPECT_EQ(sections(plan),
              "Queues (2)\n"
              "  QUEUE  RESOURCE  DESERVED  ALLOCATED  USED  PREEMPTING  BORROWED\n"
              "  a      cpu              2          2     3           0         1\n"
              "  a      memory         6Gi        6Gi   1Gi           0         0\n"
              "  b      cpu              4          3     0           1         0\n"
              "  b      memory         6Gi        6Gi   1Gi           0         0\n");
}

TEST(PlanTable, WhatAQuotaUsesBeyondItsMinimumIsBorrowed) {
    Plan plan;
    plan.queues = {{.name = "team",
                    .shares = {{"used", {{"cpu", 6000}}}, {"runtime", {{"cpu", 8000}}}, {"min", {{"cpu", 4000}}}}}};
    EXPECT_EQ(sections(plan),
              "Queues (1)\n"
              "  QUEUE  RESOURCE  USED  RUNTIME  BORROWED  MIN\n"
              "  team   cpu          6        8         2    4\n");
}

TEST(PlanTable, ALoneDefaultQueueIsNotWorthASection) {
    Plan plan;
    plan.queues = {{.name = "default", .shares = {{"used", {{"cpu", 1500}}}}}};
    EXPECT_EQ(sections(plan), "");
    plan.queues.front().shares["deserved"] = {{"cpu", 2000}};
    EXPECT_TRUE(sections(plan).starts_with("Queues (1)\n"));
    plan.queues.front().shares.erase("deserved");
    plan.queues.push_back({.name = "other", .shares = {}});
    EXPECT_TRUE(sections(plan).starts_with("Queues (1)\n"));
}

TEST(PlanTable, WarningsComeLast) {
    Plan plan;
    plan.placements = {{.pod = "a", .node = "n", .action = "allocate"}};
    plan.warnings = {"ignored 3 objects of kind Service", "pod a/b names node n9, which is not there"};
    EXPECT_TRUE(plan_to_table(plan, kPiped)
                    .ends_with("\n\nWarnings (2)\n"
                               "  ignored 3 objects of kind Service\n"
                               "  pod a/b names node n9, which is not there\n"));
}

TEST(PlanTable, ColourIsRestrained) {
    Plan plan;
    plan.placements = {{.pod = "a", .node = "n", .action = "x"},
                       {.pod = "b", .node = "n", .after_evictions = true, .action = "x"}};
    plan.evictions = {eviction("v", "why")};
    EXPECT_EQ(plan_to_table(plan, {.colour = true, .width = 0}),
              "\x1b[32m1 placed now\x1b[0m, \x1b[33m1 after evictions\x1b[0m; \x1b[31m1 pod evicted\x1b[0m\n"
              "\n"
              "\x1b[1mPlacements\x1b[0m (2)\n"
              "  \x1b[2mPOD\x1b[0m  \x1b[2mNODE\x1b[0m  \x1b[2mWHEN\x1b[0m             \x1b[2mACTION\x1b[0m\n"
              "  a    n     \x1b[32mnow\x1b[0m              x\n"
              "  b    n     \x1b[33mafter evictions\x1b[0m  x\n"
              "\n"
              "\x1b[1mEvictions\x1b[0m (1)\n"
              "  \x1b[2mPOD\x1b[0m  \x1b[2mNODE\x1b[0m  \x1b[2mUNIT\x1b[0m  \x1b[2mFOR\x1b[0m       "
              "\x1b[2mACTION\x1b[0m   \x1b[2mMODE\x1b[0m\n"
              "  \x1b[31mv\x1b[0m    n1    pod   ml/train  preempt  delete\n"
              "    \x1b[2mwhy\x1b[0m\n");
}

// Every text of a plan set to the same bytes.
Plan plan_of_texts(const std::string& text) {
    Plan plan;
    plan.id = text;
    plan.placements = {{.pod = text, .node = text, .devices = {text}, .owner = text, .domain = text, .action = text}};
    plan.evictions = {{.pod = text,
                       .node = text,
                       .uid = text,
                       .group = text,
                       .owner = text,
                       .action = text,
                       .stage = text,
                       .reason = text}};
    plan.nominations_cleared = {text};
    plan.scale = {{.deployment = text, .plane = text, .hints = {text}}};
    plan.force_deletes = {text};
    plan.annotations = {{.pod = text, .set = {{text, text}}, .remove = {text}}};
    plan.matches = {{.owner = text, .node = text, .victims = {{.pod = text, .as = text}}}};
    plan.queues = {{.name = text, .shares = {{text, {{text, 1}}}}}};
    plan.unplaced = {{.pod = text, .owner = text, .reason = text, .nodes = {{text, 1}}}, {.pod = "other"}};
    plan.certificates = {
        {.owner = text, .action = text, .cost = {{text, 1}}, .bound = {{text, 0}}, .runner_up = {{text, 2}}},
        {.owner = text, .action = text, .status = CertificateStatus::kInfeasible, .binding = text + "!"},
        {.owner = "other", .action = text, .status = CertificateStatus::kInfeasible, .binding = text}};
    plan.warnings = {text};
    return plan;
}

TEST(PlanTable, HostileTextsCannotAct) {
    const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
    const std::string hostile = "a\x1b[2J\r\nb\u202E\xff\xc2\x9b";
    for (const int width : {0, 40, 200}) {
        const std::string shown = plan_to_table(plan_of_texts(hostile), {.colour = false, .width = width});
        for (const char* bad : {"\x1b", "\r", "\u202E", "\xff", "\xc2\x9b"})
            EXPECT_EQ(shown.find(bad), std::string::npos) << width;
    }
    EXPECT_EQ(lines(plan_to_table(plan_of_texts(hostile), kPiped)), lines(plan_to_table(plan_of_texts("a"), kPiped)));
    EXPECT_NE(plan_to_table(plan_of_texts(hostile), kPiped).find("a\\x1b[2J\\r\\nb\\u202e\\xff\\u009b"),
              std::string::npos);
}

Plan large_plan(int evictions) {
    Plan plan;
    for (int i = 0; i < evictions; ++i)
        plan.evictions.push_back(eviction(fmt::format("batch/p-{:04}", i), "same for all"));
    return plan;
}

TEST(PlanTable, LargePlansAreCutOnATerminalOnly) {
    const std::string cut = plan_to_table(large_plan(1000), {.colour = false, .width = 100});
    EXPECT_TRUE(cut.starts_with("1000 pods evicted\n\nEvictions (1000)\n"));
    EXPECT_NE(cut.find("batch/p-0029"), std::string::npos);
    EXPECT_EQ(cut.find("batch/p-0030"), std::string::npos);
    EXPECT_TRUE(cut.ends_with("  … 970 more (use -o json for all)\n"));
    const std::string whole = plan_to_table(large_plan(1000), kPiped);
    EXPECT_NE(whole.find("batch/p-0999"), std::string::npos);
    EXPECT_EQ(whole.find("more"), std::string::npos);
}

}  // namespace
}  // namespace reprieve
