// Topology, budgets, volumes and workloads.
#include <gtest/gtest.h>

#include "manifest/loaded.h"

namespace reprieve {
namespace {

Loaded load_object(const std::string& api,
                   const std::string& kind,
                   const std::string& rest,
                   const std::string& metadata = "") {
    return load_text("apiVersion: " + api + "\nkind: " + kind + "\nmetadata:\n  name: x\n" + metadata + rest);
}

TEST(DecodeHyperNode, Members) {
    const Loaded in = load_object("topology.volcano.sh/v1alpha1", "HyperNode", R"(spec:
  tier: 2
  tierName: row
  members:
  - {type: HyperNode, selector: {exactMatch: {name: rack-1}}}
  - {type: Node, selector: {regexMatch: {pattern: "^n[0-9]+$"}}}
  - {type: Node, selector: {labelMatch: {matchLabels: {rack: r1}}}}
)");
    const HyperNode& row = in.one<HyperNode>();
    EXPECT_EQ(row.tier, 2);
    EXPECT_EQ(in.text(row.tier_name), "row");
    ASSERT_EQ(row.members.size(), 3U);
    EXPECT_FALSE(row.members[0].is_node);
    EXPECT_EQ(row.members[0].text, "rack-1");
    EXPECT_EQ(row.members[1].match, HyperNodeMember::Match::kRegex);
    EXPECT_EQ(row.members[2].match, HyperNodeMember::Match::kLabels);
    EXPECT_EQ(row.members[2].selector.requirements.size(), 1U);
}

TEST(DecodeHyperNode, Malformed) {
    const auto fault = [](const std::string& member) {
        return load_object("topology.volcano.sh/v1alpha1", "HyperNode", "spec: {tier: 1, members: [" + member + "]}\n")
            .error;
    };
    EXPECT_EQ(fault("{type: Node, selector: {}}"),
              "in.yaml:5: HyperNode x: spec.members[0].selector: must have exactly one of exactMatch, regexMatch and "
              "labelMatch");
    EXPECT_NE(fault("{type: Node, selector: {exactMatch: {name: a}, regexMatch: {pattern: b}}}"), "");
    EXPECT_NE(fault("{type: Node, selector: {regexMatch: {pattern: \"(\"}}}").find("is not a regular expression"),
              std::string::npos);
    EXPECT_EQ(fault("{type: Node, selector: {regexMatch: {pattern: '(a)\\1'}}}"),
              "in.yaml:5: HyperNode x: spec.members[0].selector.regexMatch.pattern: \"(a)\\1\" has the backreference "
              "\\1, which RE2 syntax does not know");
    EXPECT_EQ(fault("{type: Node}"), "in.yaml:5: HyperNode x: spec.members[0].selector: is missing");
    EXPECT_EQ(fault("{type: Leaf, selector: {exactMatch: {name: a}}}"),
              "in.yaml:5: HyperNode x: spec.members[0].type: \"Leaf\" is not one of: Node, HyperNode");
    EXPECT_NE(fault("{type: HyperNode, selector: {labelMatch: {}}}"), "");
    EXPECT_NE(fault("{type: Node, selector: {exactMatch: {name: \"\"}}}"), "");
}

TEST(DecodeBudget, NumbersAndPercentages) {
    const Loaded in = load_object(
        "policy/v1",
        "PodDisruptionBudget",
        "spec: {minAvailable: 50%, selector: {matchExpressions: [{key: app, operator: In, values: [b, a]}]}}\n"
        "status: {disruptionsAllowed: 2, disruptedPods: {p2: \"2026-01-01T00:00:00Z\", p1: "
        "\"2026-01-01T00:00:00Z\"}}\n");
    const DisruptionBudget& budget = in.one<DisruptionBudget>();
    EXPECT_EQ(budget.min_available, (IntOrPercent{50, true}));
    EXPECT_FALSE(budget.max_unavailable);
    EXPECT_EQ(budget.disruptions_allowed, 2);
    EXPECT_EQ(budget.disrupted_pods, (std::vector<std::string>{"p1", "p2"}));
    EXPECT_FALSE(budget.selector.null);

    const Loaded bare =
        load_object("policy/v1", "PodDisruptionBudget", "spec: {maxUnavailable: 1}\nstatus: {observedGeneration: 1}\n");
    EXPECT_EQ(bare.one<DisruptionBudget>().max_unavailable, (IntOrPercent{1, false}));
    EXPECT_FALSE(bare.one<DisruptionBudget>().disruptions_allowed);
    EXPECT_TRUE(bare.one<DisruptionBudget>().selector.null);
}

TEST(DecodeBudget, Malformed) {
    const auto fault = [](const std::string& spec) {
        return load_object("policy/v1", "PodDisruptionBudget", "spec: {" + spec + "}\n").error;
    };
    EXPECT_EQ(
        fault("minAvailable: 1, maxUnavailable: 1"),
        "in.yaml:5: PodDisruptionBudget default/x: spec: has both minAvailable and maxUnavailable; one is allowed");
    for (const char* bad : {"120%", "x%", "%", "\"5\"", "-1", "1.5", "[]"})
        EXPECT_NE(fault(std::string("minAvailable: ") + bad), "") << bad;
    EXPECT_EQ(fault("selector: {matchExpressions: [{key: a, operator: Resembles}]}"),
              "in.yaml:5: PodDisruptionBudget default/x: spec.selector.matchExpressions[0].operator: \"Resembles\" is "
              "not one of: In, NotIn, "
              "Exists, DoesNotExist");
    EXPECT_NE(fault("selector: {matchExpressions: [{key: a, operator: In}]}"), "");
    EXPECT_NE(fault("selector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}"), "");
    EXPECT_NE(fault("selector: {matchExpressions: [{operator: Exists}]}"), "");
}

TEST(DecodeVolume, PersistentVolume) {
    const Loaded in = load_object("v1",
                                  "PersistentVolume",
                                  R"(spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce, ReadOnlyMany]
  volumeMode: Block
  storageClassName: fast
  claimRef: {namespace: ns, name: data}
  csi: {driver: drv, volumeHandle: h}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a]}]}]}}
status: {phase: Bound}
)",
                                  "  labels: {topology.kubernetes.io/zone: a}\n");
    const PersistentVolume& volume = in.one<PersistentVolume>();
    EXPECT_EQ(volume.capacity, std::int64_t{1} << 30U);
    EXPECT_EQ(volume.modes.size(), 2U);
    EXPECT_FALSE(volume.filesystem);
    EXPECT_EQ(in.text(volume.storage_class), "fast");
    EXPECT_EQ(in.text(volume.claim_name), "data");
    EXPECT_EQ(in.text(volume.csi_handle), "h");
    EXPECT_TRUE(volume.node_affinity_required);
    EXPECT_EQ(volume.node_terms.size(), 1U);
    EXPECT_FALSE(volume.available);
    EXPECT_EQ(volume.labels.size(), 1U);
}

TEST(DecodeVolume, ClaimsTellEmptyFromAbsentClasses) {
    const Loaded in = load_object("v1",
                                  "PersistentVolumeClaim",
                                  "spec: {storageClassName: \"\", volumeName: pv, accessModes: [ReadWriteOncePod], "
                                  "resources: {requests: {storage: 2Gi}}}\n"
                                  "status: {phase: Lost}\n",
                                  "  annotations: {volume.kubernetes.io/selected-node: n1}\n");
    const VolumeClaim& claim = in.one<VolumeClaim>();
    EXPECT_TRUE(claim.storage_class_written);
    EXPECT_FALSE(claim.storage_class);
    EXPECT_EQ(claim.request, std::int64_t{2} << 30U);
    EXPECT_EQ(claim.modes, std::vector<AccessMode>{AccessMode::kReadWriteOncePod});
    EXPECT_EQ(in.text(claim.selected_node), "n1");
    EXPECT_TRUE(claim.lost);
    EXPECT_FALSE(claim.deleting);
    EXPECT_TRUE(load_object("v1", "PersistentVolumeClaim", "spec: {}\n", "  deletionTimestamp: 2026-01-01T00:00:00Z\n")
                    .one<VolumeClaim>()
                    .deleting);
    EXPECT_FALSE(load_object("v1", "PersistentVolumeClaim", "spec: {}\n").one<VolumeClaim>().storage_class_written);
}

TEST(DecodeVolume, StorageClassAndCsiNode) {
    const Loaded in = load_object("storage.k8s.io/v1",
                                  "StorageClass",
                                  "provisioner: p\nvolumeBindingMode: WaitForFirstConsumer\n"
                                  "allowedTopologies: [{matchLabelExpressions: [{key: zone, values: [a, b]}]}]\n",
                                  "  annotations: {storageclass.kubernetes.io/is-default-class: \"true\"}\n");
    const StorageClass& storage = in.one<StorageClass>();
    EXPECT_EQ(in.text(storage.provisioner), "p");
    EXPECT_TRUE(storage.wait_for_first_consumer);
    EXPECT_TRUE(storage.is_default);
    ASSERT_EQ(storage.allowed_topologies.size(), 1U);
    EXPECT_EQ(storage.allowed_topologies[0].labels[0].values.size(), 2U);

    const Loaded node = load_object(
        "storage.k8s.io/v1", "CSINode", "spec: {drivers: [{name: a, allocatable: {count: 25}}, {name: b}]}\n");
    ASSERT_EQ(node.one<CsiNode>().limits.size(), 2U);
    EXPECT_EQ(node.one<CsiNode>().limits[0].second, 25);
    EXPECT_FALSE(node.one<CsiNode>().limits[1].second);
}

TEST(DecodeWorkload, Deployment) {
    const Loaded in = load_object("apps/v1",
                                  "Deployment",
                                  R"(spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {priority: 7, priorityClassName: mid, containers: [{name: c, resources: {requests: {cpu: 2, nvidia.com/gpu: 1}}}]}
status: {replicas: 2, updatedReplicas: 1}
)",
                                  "  uid: u\n  labels: {reprieve.dev/serving: h, reprieve.dev/plane: w1}\n  "
                                  "annotations: {reprieve.dev/desired-replicas: \"5\"}\n");
    const Workload& workload = in.one<Workload>();
    EXPECT_EQ(workload.kind, WorkloadKind::kDeployment);
    EXPECT_EQ(workload.uid, "u");
    EXPECT_EQ(workload.replicas, 3);
    EXPECT_EQ(workload.status_replicas, 2);
    EXPECT_EQ(workload.updated_replicas, 1);
    EXPECT_EQ(workload.desired_replicas, 5);
    EXPECT_EQ(workload.template_priority, 7);
    EXPECT_EQ(in.text(workload.template_priority_class), "mid");
    EXPECT_EQ(workload.replica_requests.get(kCpu), 2000);
    EXPECT_EQ(in.amount(workload.replica_requests, "nvidia.com/gpu"), 1);
    EXPECT_EQ(workload.replica_requests.get(kPods), 1);
    EXPECT_EQ(workload.labels.size(), 2U);
    EXPECT_FALSE(workload.selector.null);
}

TEST(DecodeWorkload, OtherKinds) {
    EXPECT_EQ(load_object("apps/v1", "ReplicaSet", "spec: {}\n").one<Workload>().kind, WorkloadKind::kReplicaSet);
    EXPECT_EQ(load_object("apps/v1", "StatefulSet", "spec: {}\n").one<Workload>().replicas, 1);
    EXPECT_EQ(load_object("apps/v1", "DaemonSet", "spec: {}\n").one<Workload>().kind, WorkloadKind::kDaemonSet);
    EXPECT_EQ(load_object("batch/v1", "Job", "spec: {parallelism: 4}\n").one<Workload>().replicas, 4);
    const Loaded job = load_object("batch.volcano.sh/v1alpha1",
                                   "Job",
                                   "spec: {tasks: [{name: ps, replicas: 2, template: {spec: {containers: [{name: c, "
                                   "resources: {requests: {cpu: 1}}}]}}}, {name: w, replicas: 4}]}\n");
    EXPECT_EQ(job.one<Workload>().kind, WorkloadKind::kVolcanoJob);
    EXPECT_EQ(job.one<Workload>().replicas, 6);
    EXPECT_EQ(job.one<Workload>().replica_requests.get(kCpu), 1000);
    EXPECT_EQ(load_object("apps/v1", "Deployment", "spec: {replicas: -1}\n").error,
              "in.yaml:5: Deployment default/x: spec.replicas: -1 is less than 0");
}

TEST(DecodeWorkload, Revision) {
    const std::string spec = "spec: {containers: [{name: c, resources: {requests: {nvidia.com/gpu: 2}}}]}\n";
    const std::string serving = "  labels: {reprieve.dev/serving: h}\n";
    const Loaded in = load_object("serving.knative.dev/v1",
                                  "Revision",
                                  spec,
                                  serving + "  annotations: {autoscaling.knative.dev/max-scale: \"4\"}\n");
    EXPECT_EQ(in.one<Workload>().kind, WorkloadKind::kRevision);
    EXPECT_EQ(in.one<Workload>().replicas, 4);
    EXPECT_EQ(in.amount(in.one<Workload>().replica_requests, "nvidia.com/gpu"), 2);
    EXPECT_NE(load_object("serving.knative.dev/v1", "Revision", spec, serving)
                  .error.find("autoscaling.knative.dev/max-scale"),
              std::string::npos);
    EXPECT_EQ(load_object("serving.knative.dev/v1", "Revision", spec).error, "");  // nobody asks for its number
}

TEST(DecodeServing, Deployment) {
    const Loaded in = load_object("reprieve.dev/v1", "ServingDeployment", R"(spec:
  priority: 50
  replicas: 3
  resources: {nvidia.com/gpu: "2"}
  planes: [{name: w1, score: 7, committed: 2}, {name: w2}]
)");
    const ServingDeployment& serving = in.one<ServingDeployment>();
    EXPECT_EQ(serving.priority, 50);
    EXPECT_EQ(serving.replicas, 3);
    EXPECT_EQ(in.amount(*serving.resources, "nvidia.com/gpu"), 2);
    ASSERT_EQ(serving.planes.size(), 2U);
    EXPECT_EQ(serving.planes[0].score, 7);
    EXPECT_EQ(serving.planes[0].committed, 2);
    EXPECT_FALSE(serving.planes[1].committed);
    EXPECT_EQ(load_object("reprieve.dev/v1", "ServingDeployment", "spec: {planes: [{name: a}, {name: a}]}\n").error,
              "in.yaml:5: ServingDeployment default/x: spec.planes[1].name: \"a\" is listed twice");
}

}  // namespace
}  // namespace reprieve
