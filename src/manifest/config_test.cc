#include "manifest/config.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manifest/suggest.h"

namespace reprieve {
namespace {

SchedulerConfig good(std::string_view text) {
    const auto read = parse_config(text, "c.yaml");
    EXPECT_TRUE(read.has_value()) << read.error().message;
    return read.value_or(SchedulerConfig{});
}

std::string bad(std::string_view text) {
    const auto read = parse_config(text, "c.yaml");
    EXPECT_FALSE(read.has_value()) << text;
    return read ? "" : read.error().message;
}

ActionConfig only_action(const std::string& name, const std::string& args) {
    const SchedulerConfig config =
        good("actions: [{name: " + name + ", args: {" + args + "}}]\nplugins: {args: {lostWork: {resource: cpu}}}\n");
    return config.actions && config.actions->size() == 1 ? config.actions->front() : ActionConfig{};
}

std::string bad_args(const std::string& name, const std::string& args) {
    return bad("actions:\n- name: " + name + "\n  args: {" + args + "}\n");
}

TEST(Config, NothingWrittenMeansTheDefaults) {
    for (const char* text : {"",
                             "# only a comment\n",
                             "---\n---\n",
                             "{}",
                             "apiVersion: reprieve.dev/v1\nkind: SchedulerConfig\n",
                             "actions:\nplugins:\nsearch:\ntopology:\n"}) {
        EXPECT_EQ(good(text), SchedulerConfig{}) << text;
    }
}

TEST(Config, ReadsTheWholeFormat) {
    const SchedulerConfig config = good(R"(
apiVersion: reprieve.dev/v1
kind: SchedulerConfig
schedulerNames: [reprieve, batch]
actions:
  - name: allocate
  - name: preempt
    args: {improve: false, pdb: strict}
  - name: gangPreempt
    args: {maxDomains: 4, disruption: local, crossQueue: true}
plugins:
  disable: [InterPodAffinity, lostWork]
  only: [NodeResourcesFit, Devices]
  args:
    lostWork: {resource: nvidia.com/gpu}
    quota: {limit: runtime}
    protected: {kubeSystem: false}
    serving: {planeLabel: example.com/pool}
    scoreWeights: {NodeAffinity: 2, GpuBinPacking: 0}
topology: {levels: [topology.kubernetes.io/zone, row, rack]}
search: {budget: 1.5s, threads: 4}
)");
    EXPECT_EQ(config.scheduler_names, (std::vector<std::string>{"reprieve", "batch"}));
    ASSERT_TRUE(config.actions.has_value());
    ASSERT_EQ(config.actions->size(), 3U);
    ActionConfig preempt;
    preempt.kind = ActionKind::kPreempt;
    preempt.improve = false;
    preempt.pdb = PdbMode::kStrict;
    ActionConfig gang;
    gang.kind = ActionKind::kGangPreempt;
    gang.max_domains = 4;
    gang.disruption = Disruption::kLocal;
    gang.cross_queue = true;
    EXPECT_EQ(*config.actions, (std::vector<ActionConfig>{ActionConfig{}, preempt, gang}));
    EXPECT_EQ(config.plugins.disable, (std::vector<std::string>{"InterPodAffinity", "lostWork"}));
    EXPECT_EQ(config.plugins.only, (std::vector<std::string>{"NodeResourcesFit", "Devices"}));
    EXPECT_EQ(config.plugins.lost_work_resource, "nvidia.com/gpu");
    EXPECT_EQ(config.plugins.quota.limit, QuotaLimit::kRuntime);
    EXPECT_FALSE(config.plugins.kube_system_protected);
    EXPECT_EQ(config.plugins.plane_label, "example.com/pool");
    EXPECT_EQ(config.plugins.score_weights,
              (std::map<std::string, std::int64_t>{{"NodeAffinity", 2}, {"GpuBinPacking", 0}}));
    EXPECT_EQ(config.topology_levels, (std::vector<std::string>{"topology.kubernetes.io/zone", "row", "rack"}));
    EXPECT_EQ(config.search_budget, Duration{1'500'000});
    EXPECT_EQ(config.search_threads, 4);
    EXPECT_TRUE(config.warnings.empty());
}

TEST(Config, ReadsJsonToo) {
    const SchedulerConfig config =
        good(R"({"kind": "SchedulerConfig", "actions": [{"name": "revoke", "args": {"delayEvictTime": "0s"}}]})");
    ASSERT_TRUE(config.actions.has_value());
    EXPECT_EQ(config.actions->front().kind, ActionKind::kRevoke);
    EXPECT_EQ(config.actions->front().delay_evict_time, Duration{0});
}

TEST(Config, EveryActionHasItsName) {
    for (const ActionConfig& action : default_actions()) {
        EXPECT_EQ(only_action(to_text(action.kind), "").kind, action.kind);
    }
}

TEST(Config, EveryCostTermHasItsName) {
    std::string names;
    std::vector<CostTerm> all;
    for (int i = 0; i <= static_cast<int>(CostTerm::kLatestStart); ++i) {
        all.push_back(static_cast<CostTerm>(i));
        names += std::string(i == 0 ? "" : ", ") + to_text(all.back());
    }
    EXPECT_EQ(only_action("gangReclaim", "cost: [" + names + "]").cost, all);
}

TEST(Config, ReadsEveryArgument) {
    EXPECT_EQ(only_action("preempt", "mode: evict").mode, EvictMode::kEvict);
    EXPECT_EQ(only_action("preempt", "minCandidateNodesPercentage: 0").min_candidate_nodes_percentage, 0);
    EXPECT_EQ(only_action("preempt", "minCandidateNodesAbsolute: 100").min_candidate_nodes_absolute, 100);
    EXPECT_FALSE(only_action("gangReclaim", "allowWholeBundle: false").allow_whole_bundle);
    EXPECT_TRUE(only_action("gangPreempt", "surplusPreempts: true").surplus_preempts);
    EXPECT_TRUE(only_action("jobPreempt", "disableDefaultPreemptible: true").disable_default_preemptible);
    EXPECT_TRUE(only_action("jobPreempt", "disableDefaultPreemptiable: true").disable_default_preemptible);
    EXPECT_TRUE(only_action("jobPreempt", "disableDefaultTriggerPreemption: true").disable_default_trigger_preemption);
    EXPECT_FALSE(
        only_action("jobPreempt", "reserveForPendingNonPreemptible: false").reserve_for_pending_non_preemptible);
    EXPECT_EQ(only_action("jobPreempt", "softEvictionDeadline: 10m").soft_eviction_deadline,
              Duration{std::int64_t{600} * 1'000'000});
    EXPECT_EQ(only_action("servingPreempt", "forceDeleteTimeout: 5s").force_delete_timeout, Duration{5'000'000});
    EXPECT_EQ(only_action("servingPreempt", "claimTimeout: 1m").claim_timeout, Duration{60'000'000});
    EXPECT_EQ(only_action("servingPreempt", "minTerminating: 2s").min_terminating, Duration{2'000'000});
    EXPECT_TRUE(only_action("queueBalance", "resourceQuota: true").resource_quota);
}

TEST(Config, ThresholdsAreExact) {
    const std::vector<std::pair<const char*, std::int32_t>> cases = {{"0", 0},
                                                                     {"1", 1'000'000},
                                                                     {"1.0", 1'000'000},
                                                                     {"0.05", 50'000},
                                                                     {".1", 100'000},
                                                                     {"0.333333", 333'333},
                                                                     {"0.0500000000", 50'000}};
    for (const auto& [text, ppm] : cases) {
        EXPECT_EQ(only_action("gangPreempt", std::string("roiThreshold: ") + text).roi_threshold_ppm, ppm) << text;
    }
    EXPECT_EQ(bad_args("gangPreempt", "roiThreshold: 1.000001"),
              "c.yaml:3: actions[0].args.roiThreshold: must be a decimal from 0 to 1, is \"1.000001\"");
    for (const char* text : {"-0.1", "2", "x", "0.0.5", "5e-2", "0.0000001", ".", "''", "99999999999999999999"}) {
        EXPECT_NE(bad_args("gangPreempt", std::string("roiThreshold: ") + text)
                      .find("c.yaml:3: actions[0].args.roiThreshold: "),
                  std::string::npos);
    }
}

TEST(Config, SoftEvictionHasTwoSpellings) {
    for (const char* args : {"mode: soft",
                             "podShouldBeDeletedWhenPreempted: false",
                             "mode: soft, podShouldBeDeletedWhenPreempted: false"}) {
        SchedulerConfig config;
        config.actions.emplace({only_action("jobPreempt", args)});
        EXPECT_EQ(actions_of(config).front().mode, EvictMode::kSoft) << args;
    }
    EXPECT_EQ(only_action("jobPreempt", "mode: evict").mode, EvictMode::kEvict);
}

TEST(Config, AnActionsOwnModeWins) {
    for (const char* args : {"mode: delete, podShouldBeDeletedWhenPreempted: false", "mode: delete"}) {
        SchedulerConfig config;
        config.actions.emplace({only_action("jobPreempt", args)});
        config.plugins.quota.delete_when_preempted = false;
        EXPECT_EQ(actions_of(config).front().mode, EvictMode::kDelete) << args;
    }
}

TEST(Config, WhatQuotasSayTwiceAndDifferentlyIsSaid) {
    const SchedulerConfig config = good(
        "actions: [{name: jobPreempt, args: {disableDefaultPreemptible: false, softEvictionDeadline: 1m}}]\n"
        "plugins: {args: {quota: {disableDefaultPreemptible: true, softEvictionDeadline: 1m}}}");
    ASSERT_EQ(config.warnings.size(), 1U);
    EXPECT_EQ(config.warnings.front(),
              "disableDefaultPreemptible is written differently under plugins.args.quota and under jobPreempt: true "
              "holds");
    EXPECT_TRUE(actions_of(config).front().disable_default_preemptible);
}

TEST(Config, StrictBudgetsGoByTheEvictionApi) {
    const SchedulerConfig config = good("actions: [{name: preempt, args: {pdb: strict, mode: delete}}]");
    ASSERT_EQ(config.warnings.size(), 1U);
    EXPECT_EQ(config.warnings.front(),
              "preempt: mode: delete has no effect with pdb: strict, which goes by the eviction API");
    EXPECT_TRUE(good("actions: [{name: preempt, args: {pdb: strict}}]").warnings.empty());
}

TEST(Config, WhatQuotasSayHoldsForEveryAction) {
    const SchedulerConfig under_plugins = good(
        "plugins: {args: {quota: {disableDefaultPreemptible: true, disableDefaultTriggerPreemption: true, "
        "reserveForPendingNonPreemptible: false, podShouldBeDeletedWhenPreempted: false, softEvictionDeadline: 1m}}}");
    const SchedulerConfig under_an_action = good(
        "actions:\n- name: preempt\n- name: jobPreempt\n  args: {disableDefaultPreemptible: true, "
        "disableDefaultTriggerPreemption: true, reserveForPendingNonPreemptible: false, "
        "podShouldBeDeletedWhenPreempted: false, softEvictionDeadline: 1m}\n");
    for (const SchedulerConfig& config : {under_plugins, under_an_action}) {
        for (const ActionConfig& action : actions_of(config)) {
            EXPECT_TRUE(action.disable_default_preemptible);
            EXPECT_TRUE(action.disable_default_trigger_preemption);
            EXPECT_FALSE(action.reserve_for_pending_non_preemptible);
            EXPECT_EQ(action.mode, EvictMode::kSoft);
            EXPECT_EQ(action.soft_eviction_deadline, Duration{60'000'000});
        }
    }
}

TEST(Config, GangActionsHaveSeveralNames) {
    for (const char* name : {"gangPreempt", "gangpreempt", "gang-preempt"})
        EXPECT_EQ(good(std::string("actions:\n- name: ") + name + "\n").actions->front().kind,
                  ActionKind::kGangPreempt);
    for (const char* name : {"gangReclaim", "gangreclaim", "gang-reclaim"})
        EXPECT_EQ(good(std::string("actions:\n- name: ") + name + "\n").actions->front().kind,
                  ActionKind::kGangReclaim);
}

TEST(Config, AThresholdWithoutEffectIsWarnedAbout) {
    EXPECT_EQ(good("actions:\n- name: gangPreempt\n  args: {roiThreshold: 0.1}\n").warnings,
              std::vector<std::string>{"gangPreempt: roiThreshold has an effect only with improve: false"});
    EXPECT_TRUE(good("actions:\n- name: gangPreempt\n  args: {roiThreshold: 0.1, improve: false}\n").warnings.empty());
}

TEST(Config, QueuesByNamespace) {
    EXPECT_FALSE(good("queues: {fallback: default}").queues_by_namespace);
    EXPECT_TRUE(good("queues: {fallback: namespace}").queues_by_namespace);
    EXPECT_EQ(bad("queues: {fallback: namespaces}"),
              "c.yaml:1: queues.fallback: unknown fallback \"namespaces\", did you mean namespace?");
    EXPECT_TRUE(only_action("queueBalance", "request: pods").request_by_pods);
    EXPECT_TRUE(only_action("gangReclaim", "wholeBelowDeserved: true").whole_below_deserved);
}

TEST(Config, UnknownNamesComeWithASuggestion) {
    EXPECT_EQ(bad("actions:\n- name: allocate\n- name: premept\n"),
              "c.yaml:3: actions[1].name: unknown action \"premept\", did you mean preempt?");
    EXPECT_EQ(bad("actions:\n- name: gang-premept\n"),
              "c.yaml:2: actions[0].name: unknown action \"gang-premept\", did you mean gangPreempt?");
    EXPECT_EQ(bad("serch: {}"), "c.yaml:1: serch: unknown key, did you mean search?");
    EXPECT_EQ(bad("search: {\n budgte: 1s}"), "c.yaml:2: search.budgte: unknown key, did you mean budget?");
    EXPECT_EQ(bad("search: {depth: 3}"), "c.yaml:1: search.depth: unknown key (known: budget, cycleBudget, threads)");
    EXPECT_EQ(bad("plugins: {disable: [nodeaffinity]}"),
              "c.yaml:1: plugins.disable[0]: unknown plugin \"nodeaffinity\", did you mean NodeAffinity?");
    EXPECT_NE(bad("plugins: {only: [gang]}").find("plugins.only[0]: unknown filter \"gang\""), std::string::npos);
    EXPECT_EQ(bad("plugins: {args: {lostwork: {}}}"),
              "c.yaml:1: plugins.args.lostwork: unknown key, did you mean lostWork?");
    EXPECT_EQ(bad("plugins: {args: {quota: {limits: max}}}"),
              "c.yaml:1: plugins.args.quota.limits: unknown key, did you mean limit?");
    EXPECT_EQ(bad("plugins: {args: {scoreWeights: {ImageLocalty: 1}}}"),
              "c.yaml:1: plugins.args.scoreWeights.ImageLocalty: unknown key, did you mean ImageLocality?");
    EXPECT_EQ(bad("topology: {level: [a]}"), "c.yaml:1: topology.level: unknown key, did you mean levels?");
    EXPECT_EQ(bad_args("preempt", "pdb: besteffort"),
              "c.yaml:3: actions[0].args.pdb: unknown pdb mode \"besteffort\", did you mean bestEffort?");
    EXPECT_EQ(bad_args("preempt", "improved: true"),
              "c.yaml:3: actions[0].args.improved: unknown argument of preempt, did you mean improve?");
    EXPECT_EQ(bad_args("preempt", "cost: [pdbViolation]"),
              "c.yaml:3: actions[0].args.cost[0]: unknown cost term \"pdbViolation\", did you mean pdbViolations?");
}

TEST(Config, AnArgumentOfAnotherActionIsNamed) {
    EXPECT_EQ(
        bad_args("preempt", "maxDomains: 8"),
        "c.yaml:3: actions[0].args.maxDomains: preempt takes no maxDomains (it belongs to gangPreempt, gangReclaim)");
    EXPECT_EQ(
        bad_args("gangReclaim", "crossQueue: true"),
        "c.yaml:3: actions[0].args.crossQueue: gangReclaim takes no crossQueue (it belongs to preempt, gangPreempt)");
    EXPECT_NE(bad_args("allocate", "improve: true").find("allocate takes no improve"), std::string::npos);
    EXPECT_EQ(bad_args("backfill", "xyz: true"),
              "c.yaml:3: actions[0].args.xyz: unknown argument of backfill (it takes none)");
}

TEST(Config, ValuesOutOfRangeNameTheKey) {
    const std::vector<std::pair<const char*, const char*>> cases = {
        {"search: {threads: -1}", "c.yaml:1: search.threads: must be a whole number from 0 to 1024, is \"-1\""},
        {"search: {threads: 1.5}", "c.yaml:1: search.threads: must be a whole number from 0 to 1024, is \"1.5\""},
        {"search: {threads: 99999999999999999999}",
         "c.yaml:1: search.threads: must be a whole number from 0 to 1024, is \"99999999999999999999\""},
        {"search: {budget: 50}",
         "c.yaml:1: search.budget: \"50\" is not a duration (examples: 30m, 1h30m, 1.5s, 250ms)"},
        {"search: {budget: -1s}", "c.yaml:1: search.budget: must not be negative, is \"-1s\""},
        {"search: {budget: 2h}", "c.yaml:1: search.budget: must be at most 1h"},
        {"search: {budget: }", "c.yaml:1: search.budget: must be a single value, is nothing"},
        {"search: {budget: [1s]}", "c.yaml:1: search.budget: must be a single value, is a list"},
        {"search: fast", "c.yaml:1: search: must be a mapping, is a single value"},
        {"schedulerNames: reprieve", "c.yaml:1: schedulerNames: must be a list, is a single value"},
        {"schedulerNames: ['']", "c.yaml:1: schedulerNames[0]: must not be empty"},
        {"topology: {levels: [rack, rack]}", "c.yaml:1: topology.levels[1]: \"rack\" is listed twice"},
        {"plugins: {args: {scoreWeights: {NodeAffinity: -1}}}",
         "c.yaml:1: plugins.args.scoreWeights.NodeAffinity: must be a whole number from 0 to 1000000, is \"-1\""},
        {"plugins: {args: {protected: {kubeSystem: maybe}}}",
         "c.yaml:1: plugins.args.protected.kubeSystem: must be true or false, is \"maybe\""},
        {"plugins: {args: {lostWork: {resource: ''}}}", "c.yaml:1: plugins.args.lostWork.resource: must not be empty"},
        {"actions: [{name: allocate}, {name: preempt, args: {cost: [pods, lostWork]}}]",
         "c.yaml:1: actions[1]: args.cost has lostWork, which needs plugins.args.lostWork.resource"},
        {"apiVersion: v1", "c.yaml:1: apiVersion: must be reprieve.dev/v1, is \"v1\""},
        {"kind: ConfigMap", "c.yaml:1: kind: must be SchedulerConfig, is \"ConfigMap\""},
        {"actions: []", "c.yaml:1: actions: must list at least one action"},
        {"actions: [{args: {}}]", "c.yaml:1: actions[0]: an action needs a name"},
        {"actions: [allocate]", "c.yaml:1: actions[0]: must be a mapping, is a single value"},
        {"actions: [{name: allocate}, {name: allocate}]", "c.yaml:1: actions[1]: allocate is listed twice"},
        {"search: {}\nsearch: {}", "c.yaml:2: search: is written twice"},
        {"[1, 2]", "c.yaml:1: must be a mapping, is a list"},
        {"search: {}\n---\nsearch: {}\n", "c.yaml:2: a configuration is one document, here a second one begins"},
    };
    for (const auto& [text, message] : cases)
        EXPECT_EQ(bad(text), message);
    EXPECT_EQ(bad_args("gangPreempt", "maxDomains: 0"),
              "c.yaml:3: actions[0].args.maxDomains: must be a whole number from 1 to 2147483647, is \"0\"");
    EXPECT_EQ(
        bad_args("preempt", "minCandidateNodesPercentage: 101"),
        "c.yaml:3: actions[0].args.minCandidateNodesPercentage: must be a whole number from 0 to 100, is \"101\"");
    EXPECT_NE(
        bad_args("preempt", "minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0").find("must not both be 0"),
        std::string::npos);
    EXPECT_EQ(bad_args("preempt", "cost: []"), "c.yaml:3: actions[0].args.cost: must list at least one cost term");
    EXPECT_EQ(bad_args("preempt", "cost: [pods, pods]"), "c.yaml:3: actions[0].args.cost[1]: pods is listed twice");
}

TEST(Config, OurFormatIsKnownByItsApiVersionOrKind) {
    EXPECT_EQ(bad("apiVersion: reprieve.dev/v1\nkind: SchedulerConfig\nactions: allocate\n"),
              "c.yaml:3: actions: must be a list, is a single value");
    EXPECT_EQ(bad("kind: SchedulerConfig\ntiers: []\n").find("c.yaml:2: tiers: unknown key"), 0U);
    EXPECT_EQ(bad("actions: alocate\napiVersion: reprieve.dev/v1\n"),
              "c.yaml:1: actions: must be a list, is a single value");
}

TEST(Config, WhatCannotBeDisabledIsSaid) {
    EXPECT_EQ(good("plugins: {disable: [pdb, NodePorts, gang]}").warnings,
              (std::vector<std::string>{"plugins.disable: pdb cannot be disabled in this version and stays on",
                                        "plugins.disable: gang cannot be disabled in this version and stays on"}));
    EXPECT_TRUE(good("plugins: {disable: [Devices, devices, priority, minRuntime, protected, lostWork, VolumeZone]}")
                    .warnings.empty());
}

TEST(Config, TheFirstComplaintIsTheOneReported) {
    EXPECT_EQ(bad("search: {threads: -1}\nplugin: {}\n"),
              "c.yaml:1: search.threads: must be a whole number from 0 to 1024, is \"-1\"");
}

TEST(Config, BrokenTextNamesTheLine) {
    EXPECT_EQ(bad("search:\n  threads: [1\n").find("c.yaml:"), 0U);
    EXPECT_NE(bad("actions: [\n").find("not readable as YAML or JSON"), std::string::npos);
    EXPECT_NE(bad("a: b: c").find("c.yaml:1: not readable"), std::string::npos);
    EXPECT_NE(bad(std::string(100'000, '[')).find("not readable"), std::string::npos);
}

TEST(Config, StrayCharactersDoNotHang) {
    for (const char* text : {",search: {}", "]", "}", "search: {}\n,", "? ]", "--- ,\n"}) {
        EXPECT_EQ(bad(text).find("c.yaml:"), 0U) << text;
    }
}

TEST(Config, OnlyTextIsRead) {
    EXPECT_EQ(bad(std::string_view("search: {}\n\0plugin: {}", 22)), "c.yaml:2: control character: this is no text");
    EXPECT_EQ(bad("search: {}\n\x04\n"), "c.yaml:2: control character: this is no text");
    EXPECT_EQ(bad("topology:\n  levels: [a, \xFF]"), "c.yaml:2: not UTF-8: this is no text");
    EXPECT_EQ(good("\xEF\xBB\xBFtopology: {levels: [\xEF\xBF\xBD]}").topology_levels,
              (std::vector<std::string>{"\xEF\xBF\xBD"}));
}

TEST(Config, HostileNamesStayOnOneLine) {
    const std::string message = bad("\"a\\nb\\u001b[31m\": 1");
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_EQ(message.find('\x1b'), std::string::npos);
}

TEST(Suggest, FindsTheNearestName) {
    static constexpr std::array<std::string_view, 3> kNames{"allocate", "preempt", "backfill"};
    EXPECT_EQ(nearest_name("premept", kNames), "preempt");
    EXPECT_EQ(nearest_name("PREEMPT", kNames), "preempt");
    EXPECT_EQ(nearest_name("alocate", kNames), "allocate");
    EXPECT_EQ(nearest_name("backfil", kNames), "backfill");
    EXPECT_EQ(nearest_name("evict", kNames), "");
    EXPECT_EQ(nearest_name("pre", kNames), "");
    EXPECT_EQ(meant_names("premept", kNames), "preempt");
    EXPECT_EQ(meant_names("Pre", kNames), "preempt");
    EXPECT_EQ(meant_names("pr", kNames), "");
    static constexpr std::array<std::string_view, 2> kTiers{"highestTierAllowed", "highestTierName"};
    EXPECT_EQ(meant_names("highestTier", kTiers), "highestTierAllowed or highestTierName");
    EXPECT_EQ(nearest_name("", kNames), "");
    EXPECT_EQ(nearest_name(std::string(100, 'p'), kNames), "");
}

}  // namespace
}  // namespace reprieve
