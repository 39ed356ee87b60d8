#include <gtest/gtest.h>

#include "manifest/loaded.h"

namespace reprieve {
namespace {

Loaded load_group(const std::string& api,
                  const std::string& spec,
                  const std::string& metadata = "",
                  const std::string& kind = "PodGroup") {
    return load_text("apiVersion: " + api + "\nkind: " + kind + "\nmetadata:\n  name: g\n  namespace: ns\n" + metadata +
                     "spec:\n" + spec);
}

TEST(DecodeGang, CoreBeta) {
    const Loaded in = load_group("scheduling.k8s.io/v1beta1",
                                 R"(  schedulingPolicy: {gang: {minCount: 4}}
  disruptionMode: {all: {}}
  priority: 7
  priorityClassName: high
  preemptionPolicy: Never
  parentCompositePodGroupName: root
  schedulingConstraints: {topology: [{key: rack}]}
  workloadRef: {workloadName: w}
)",
                                 "  annotations:\n    reprieve.dev/plan: '{\"id\":\"x\"}'\n");
    const Gang& gang = in.one<Gang>();
    EXPECT_EQ(gang.dialect, GangDialect::kCore);
    EXPECT_EQ(gang.min_members, 4);
    EXPECT_EQ(gang.disruption, DisruptionMode::kAll);
    EXPECT_EQ(gang.priority, 7);
    EXPECT_EQ(in.text(gang.priority_class), "high");
    EXPECT_EQ(gang.preemption_policy, PreemptionPolicy::kNever);
    EXPECT_EQ(in.text(gang.parent), "root");
    ASSERT_TRUE(gang.topology);
    EXPECT_EQ(in.text(gang.topology->label_key), "rack");
    EXPECT_TRUE(gang.topology->hard);
    EXPECT_EQ(gang.plan->id, "x");
}

TEST(DecodeGang, CoreDisruptionModes) {
    const auto mode = [](const std::string& text) {
        return load_group("scheduling.k8s.io/v1alpha2", "  schedulingPolicy: {basic: {}}\n" + text)
            .one<Gang>()
            .disruption;
    };
    EXPECT_EQ(mode(""), DisruptionMode::kSingle);
    EXPECT_EQ(mode("  disruptionMode: Pod\n"), DisruptionMode::kSingle);
    EXPECT_EQ(mode("  disruptionMode: PodGroup\n"), DisruptionMode::kAll);
    EXPECT_EQ(mode("  disruptionMode: {single: {}}\n"), DisruptionMode::kSingle);
    EXPECT_EQ(load_group("scheduling.k8s.io/v1beta1", "  schedulingPolicy: {basic: {}}\n").one<Gang>().min_members, 0);
}

TEST(DecodeGang, CoreContradictions) {
    const auto fault = [](const std::string& spec) { return load_group("scheduling.k8s.io/v1beta1", spec).error; };
    EXPECT_EQ(fault("  schedulingPolicy: {basic: {}, gang: {minCount: 1}}\n"),
              "in.yaml:7: PodGroup ns/g: spec.schedulingPolicy: has both basic and gang; one is allowed");
    EXPECT_EQ(fault("  schedulingPolicy: {}\n"),
              "in.yaml:7: PodGroup ns/g: spec.schedulingPolicy: has neither basic nor gang");
    EXPECT_EQ(fault("  schedulingPolicy: {gang: {minCount: 0}}\n"),
              "in.yaml:7: PodGroup ns/g: spec.schedulingPolicy.gang.minCount: 0 is less than 1");
    EXPECT_EQ(fault("  schedulingPolicy: {gang: {}}\n"),
              "in.yaml:7: PodGroup ns/g: spec.schedulingPolicy.gang.minCount: is missing");
    EXPECT_EQ(fault("  disruptionMode: {single: {}, all: {}}\n"),
              "in.yaml:7: PodGroup ns/g: spec.disruptionMode: has both single and all; one is allowed");
    EXPECT_NE(fault("  schedulingConstraints: {topology: [{key: a}, {key: b}]}\n"), "");
    EXPECT_NE(fault("  disruptionMode: Everything\n"), "");
}

TEST(DecodeGang, Composite) {
    const Loaded in = load_group("scheduling.k8s.io/v1alpha3",
                                 R"(  schedulingPolicy: {gang: {minGroupCount: 2}}
  disruptionMode: {all: {}}
  priority: 9
  parentCompositePodGroupName: top
)",
                                 "",
                                 "CompositePodGroup");
    const CompositeGroup& group = in.one<CompositeGroup>();
    EXPECT_EQ(group.min_groups, 2);
    EXPECT_EQ(group.disruption, DisruptionMode::kAll);
    EXPECT_EQ(group.priority, 9);
    EXPECT_EQ(in.text(group.parent), "top");
}

TEST(DecodeGang, Volcano) {
    const Loaded in = load_group("scheduling.volcano.sh/v1beta1",
                                 R"(  minMember: 3
  queue: q
  priorityClassName: low
  minTaskMember: {worker: 2, ps: 1}
  minResources: {cpu: 3, nvidia.com/gpu: 8}
  networkTopology: {mode: soft, highestTierAllowed: 2}
  subGroupPolicy:
  - name: ring
    labelSelector: {matchLabels: {role: worker}}
    matchLabelKeys: [part]
    subGroupSize: 2
    minSubGroups: 1
    networkTopology: {highestTierName: rack}
)",
                                 "  annotations: {volcano.sh/preemptable: \"false\", reprieve.dev/restart-cost: 1h}\n");
    const Gang& gang = in.one<Gang>();
    EXPECT_EQ(gang.dialect, GangDialect::kVolcano);
    EXPECT_EQ(gang.disruption, DisruptionMode::kSurplusThenWhole);
    EXPECT_EQ(gang.min_members, 3);
    EXPECT_EQ(in.text(gang.queue), "q");
    EXPECT_EQ(in.text(gang.priority_class), "low");
    ASSERT_EQ(gang.role_minimums.size(), 2U);
    EXPECT_TRUE(std::is_sorted(gang.role_minimums.begin(), gang.role_minimums.end()));
    EXPECT_EQ(gang.min_resources->get(kCpu), 3000);
    EXPECT_FALSE(gang.topology->hard);
    EXPECT_EQ(gang.topology->highest_tier, 2);
    ASSERT_EQ(gang.sub_groups.size(), 1U);
    EXPECT_EQ(in.text(gang.sub_groups[0].name), "ring");
    EXPECT_EQ(gang.sub_groups[0].size, 2);
    EXPECT_EQ(gang.sub_groups[0].min_sub_groups, 1);
    EXPECT_EQ(gang.sub_groups[0].match_label_keys.size(), 1U);
    EXPECT_TRUE(gang.sub_groups[0].topology->hard);
    EXPECT_EQ(in.text(gang.sub_groups[0].topology->highest_tier_name), "rack");
    EXPECT_EQ(gang.settings.preemptible, false);
    EXPECT_EQ(gang.settings.restart_cost->seconds(), 3600);
}

TEST(DecodeGang, VolcanoContradictions) {
    EXPECT_EQ(load_group("scheduling.volcano.sh/v1beta1", "  minMember: -1\n").error,
              "in.yaml:7: PodGroup ns/g: spec.minMember: -1 is less than 0");
    EXPECT_EQ(
        load_group("scheduling.volcano.sh/v1beta1", "  networkTopology: {highestTierAllowed: 1, highestTierName: x}\n")
            .error,
        "in.yaml:7: PodGroup ns/g: spec.networkTopology: has both highestTierAllowed and highestTierName; one is "
        "allowed");
    EXPECT_NE(load_group("scheduling.volcano.sh/v1beta1", "  networkTopology: {mode: medium}\n").error, "");
    EXPECT_NE(
        load_group("scheduling.volcano.sh/v1beta1", "  minTaskMember: {a: x}\n").error.find("spec.minTaskMember.a"),
        std::string::npos);
}

TEST(DecodeGang, PlainDialects) {
    EXPECT_EQ(load_group("scheduling.x-k8s.io/v1alpha1", "  minMember: 2\n").one<Gang>().dialect,
              GangDialect::kSchedulerPlugins);
    const Loaded in =
        load_group("scheduling.sigs.k8s.io/v1alpha1",
                   "  minMember: 2\n",
                   "  annotations:\n    gang.scheduling.koordinator.sh/groups: '[\"ns/g\", \"h\", \"other/i\"]'\n");
    const Gang& gang = in.one<Gang>();
    EXPECT_EQ(gang.dialect, GangDialect::kKoordinator);
    EXPECT_EQ(gang.min_members, 2);
    ASSERT_EQ(gang.peers.size(), 2U);  // itself left out
    std::vector<std::string> peers{in.text(gang.peers[0]), in.text(gang.peers[1])};
    std::sort(peers.begin(), peers.end());
    EXPECT_EQ(peers, (std::vector<std::string>{"ns/h", "other/i"}));
}

TEST(DecodeGang, TheCoreWorkloadSaysNothing) {
    const Loaded in = load_group("scheduling.k8s.io/v1beta1", "  podGroupTemplates: []\n", "", "Workload");
    EXPECT_TRUE(in.objects.empty());
    EXPECT_TRUE(in.report.ignored.empty());
}

}  // namespace
}  // namespace reprieve
