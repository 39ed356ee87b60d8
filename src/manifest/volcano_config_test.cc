#include "manifest/volcano_config.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "manifest/config.h"

namespace reprieve {
namespace {

SchedulerConfig good_volcano(std::string_view text) {
    const auto read = parse_config(text, "volcano-scheduler.conf");
    EXPECT_TRUE(read.has_value()) << read.error().message;
    return read.value_or(SchedulerConfig{});
}

std::string bad_volcano(std::string_view text) {
    const auto read = parse_config(text, "volcano-scheduler.conf");
    EXPECT_FALSE(read.has_value()) << text;
    return read ? "" : read.error().message;
}

std::vector<std::string> action_list(const SchedulerConfig& config) {
    std::vector<std::string> names;
    for (const ActionConfig& action : config.actions.value_or(std::vector<ActionConfig>{}))
        names.emplace_back(to_text(action.kind));
    return names;
}

using Texts = std::vector<std::string>;

TEST(VolcanoConfig, MapsActionsInOrderEachOnce) {
    const SchedulerConfig config =
        good_volcano("actions: \"enqueue, allocate, preempt, gangpreempt, reclaim, gangreclaim, backfill\"\n");
    EXPECT_EQ(action_list(config), (Texts{"allocate", "preempt", "gangPreempt", "gangReclaim", "backfill"}));
    EXPECT_TRUE(config.warnings.empty());
    EXPECT_EQ(action_list(good_volcano("actions: \"reclaim ,\tgangpreempt,allocate\"")),
              (Texts{"gangReclaim", "gangPreempt", "allocate"}));
    EXPECT_EQ(action_list(good_volcano("tiers: [{plugins: [{name: gang}]}]")), (Texts{"allocate", "backfill"}));
}

TEST(VolcanoConfig, WarnsAboutActionsWithoutCounterpart) {
    const SchedulerConfig config = good_volcano("actions: \"allocate, shuffle\"");
    EXPECT_EQ(action_list(config), (Texts{"allocate"}));
    EXPECT_EQ(config.warnings, (Texts{"action \"shuffle\" of Volcano has no counterpart and is left out"}));
}

TEST(VolcanoConfig, RefusesActionsThatVolcanoRefuses) {
    EXPECT_EQ(bad_volcano("actions: \"alocate, backfill\""),
              "volcano-scheduler.conf:1: actions: unknown action \"alocate\", did you mean allocate?");
    EXPECT_NE(bad_volcano("actions: \"allocate,,backfill\"").find("unknown action \"\""), std::string::npos);
}

TEST(VolcanoConfig, FlattensTiersAndWarnsAboutTheUnsupported) {
    const SchedulerConfig config = good_volcano(R"(
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
  - name: nodeorder
    arguments: {nodeaffinity.weight: 5, mostrequested.weight: 1}
  - name: networktopologyaware
  - name: capacity
    enableHierarchy: true
    arguments: {ancestorReclaimLevel: 1}
  - name: gang
    enableJobOrder: false
  - name: drf
)");
    EXPECT_EQ(action_list(config), (Texts{"allocate", "backfill"}));
    EXPECT_TRUE(config.plugins.disable.empty());
    EXPECT_EQ(config.plugins.score_weights, (std::map<std::string, std::int64_t>{{"NodeAffinity", 5}}));
    EXPECT_EQ(config.warnings,
              (Texts{"plugin \"drf\" of Volcano is not supported and is left out",
                     "plugin \"nodeorder\" of Volcano: not used: mostrequested.weight",
                     "plugin \"networktopologyaware\" of Volcano is not supported and is left out (did you mean "
                     "network-topology-aware?)",
                     "plugin \"capacity\" of Volcano: not used: ancestorReclaimLevel",
                     "plugin \"gang\" of Volcano: enableJobOrder: false has no counterpart"}));
}

TEST(VolcanoConfig, PriorityWithoutPreemptableIsDisabled) {
    const SchedulerConfig config = good_volcano(R"(
actions: "preempt"
tiers:
- plugins:
  - name: priority
    enablePreemptable: false
)");
    EXPECT_EQ(config.plugins.disable, (Texts{"priority"}));
    EXPECT_TRUE(good_volcano("actions: preempt\ntiers: [{plugins: [{name: priority, enablePreemptable: true}]}]")
                    .plugins.disable.empty());
}

TEST(VolcanoConfig, PdbPluginMakesBudgetsStrict) {
    const SchedulerConfig config = good_volcano("actions: \"allocate, preempt\"\ntiers: [{plugins: [{name: pdb}]}]");
    for (const ActionConfig& action : *config.actions) {
        EXPECT_EQ(action.pdb, action.kind == ActionKind::kAllocate ? PdbMode::kBestEffort : PdbMode::kStrict);
    }
}

TEST(VolcanoConfig, ArgumentsOfActionsAreKept) {
    const SchedulerConfig config = good_volcano(R"(
configurations:
- name: preempt
  arguments: {enableTopologyAwarePreemption: true, minCandidateNodesPercentage: 10}
- name: gangpreempt
  arguments: {maxDomains: "3", allowWholeBundle: false}
- name: rescheduling
  arguments: {interval: 5m}
actions: "preempt, gangreclaim"
metrics: {type: prometheus}
)");
    ASSERT_EQ(action_list(config), (Texts{"preempt", "gangPreempt", "gangReclaim"}));
    EXPECT_EQ((*config.actions)[0].min_candidate_nodes_percentage, 10);
    EXPECT_EQ((*config.actions)[1].max_domains, 3);
    EXPECT_FALSE((*config.actions)[1].allow_whole_bundle);
    EXPECT_EQ((*config.actions)[2].max_domains, 8);
    EXPECT_EQ(config.warnings,
              (Texts{"configuration \"preempt\" of Volcano: not used: enableTopologyAwarePreemption",
                     "configuration \"rescheduling\" of Volcano: not used: interval",
                     "metrics of Volcano's configuration are left out"}));
    EXPECT_EQ(bad_volcano("actions: gangpreempt\nconfigurations:\n- name: gangpreempt\n  arguments: {maxDomains: 0}\n"),
              "volcano-scheduler.conf:4: configurations[0].arguments.maxDomains: must be a whole number from 1 to "
              "2147483647, is \"0\"");
}

TEST(VolcanoConfig, MalformedTiersAreErrors) {
    EXPECT_EQ(bad_volcano("actions: allocate\ntier: []\n"),
              "volcano-scheduler.conf:2: tier: unknown key, did you mean tiers?");
    EXPECT_EQ(bad_volcano("actions: allocate\ntiers:\n- plugin: []\n"),
              "volcano-scheduler.conf:3: tiers[0].plugin: unknown key, did you mean plugins?");
    EXPECT_EQ(bad_volcano("actions: allocate\ntiers:\n- plugins:\n  - enablePreemptable: false\n"),
              "volcano-scheduler.conf:4: tiers[0].plugins[0]: a plugin needs a name");
    EXPECT_EQ(bad_volcano("actions: allocate\ntiers: [{plugins: [{name: gang, enablePreemptable: 3}]}]"),
              "volcano-scheduler.conf:2: tiers[0].plugins[0].enablePreemptable: must be true or false, is \"3\"");
    EXPECT_EQ(bad_volcano("actions: allocate\ntiers: [{plugins: [{name: gang, argument: {}}]}]"),
              "volcano-scheduler.conf:2: tiers[0].plugins[0].argument: unknown key, did you mean arguments?");
}

}  // namespace
}  // namespace reprieve
