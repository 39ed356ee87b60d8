#include <gtest/gtest.h>

#include "manifest/loaded.h"

namespace reprieve {
namespace {

constexpr std::int64_t kMi = std::int64_t{1024} * 1024;

TEST(DecodePodSpec, SumOfContainers) {
    const Loaded in = load_pod(R"(  overhead: {cpu: 10m}
  containers:
  - {name: a, image: x, resources: {requests: {cpu: 100m, memory: 1Mi, example.com/slots: 2}}}
  - {name: b, image: x, resources: {requests: {cpu: 0.5, memory: 1}, limits: {example.com/slots: 3}}}
)");
    const Resources& requests = in.shape().requests;
    EXPECT_EQ(requests.get(kCpu), 610);
    EXPECT_EQ(requests.get(kMemory), kMi + 1);
    EXPECT_EQ(in.amount(requests, "example.com/slots"), 5);  // a limit stands for a missing request
    EXPECT_EQ(requests.get(kPods), 1);
}

TEST(DecodePodSpec, InitContainersPeakBesideTheSidecarsBeforeThem) {
    // Peak: 100 (sidecar) + 900 = 1000; together: 200 + 100 + 50 = 350.
    const Loaded in = load_pod(R"(  initContainers:
  - {name: s1, image: x, restartPolicy: Always, resources: {requests: {cpu: 100m}}}
  - {name: i, image: x, resources: {requests: {cpu: 900m}}}
  - {name: s2, image: x, restartPolicy: Always, resources: {requests: {cpu: 50m}}}
  containers:
  - {name: c, image: x, resources: {requests: {cpu: 200m}}}
)");
    EXPECT_EQ(in.shape().requests.get(kCpu), 1000);
    const Loaded before = load_pod(R"(  initContainers:
  - {name: i, image: x, resources: {requests: {cpu: 300m}}}
  - {name: s1, image: x, restartPolicy: Always, resources: {requests: {cpu: 200m}}}
  containers:
  - {name: c, image: x, resources: {requests: {cpu: 200m}}}
)");
    EXPECT_EQ(before.shape().requests.get(kCpu), 400);
}

TEST(DecodePodSpec, PodLevelResourcesReplaceTheSums) {
    const Loaded in = load_pod(R"(  overhead: {cpu: 1}
  resources: {requests: {cpu: 3}, limits: {cpu: 8, memory: 5Mi}}
  containers:
  - {name: c, image: x, resources: {requests: {cpu: 1, ephemeral-storage: 7}}}
)");
    EXPECT_EQ(in.shape().requests.get(kCpu), 4000);
    EXPECT_EQ(in.shape().requests.get(kMemory), 5 * kMi);
    EXPECT_EQ(in.shape().requests.get(kEphemeralStorage), 7);
    const Loaded limit = load_pod(R"(  resources: {limits: {memory: 5Mi}}
  containers:
  - {name: c, image: x, resources: {requests: {memory: 1Mi}}}
)");
    EXPECT_EQ(limit.shape().requests.get(kMemory), kMi);
}

TEST(DecodePodSpec, ScoresAssumeAmountsWhereNothingIsWritten) {
    const Loaded in = load_pod(
        "  containers:\n  - {name: a, image: x}\n  - {name: b, image: x, resources: {requests: {cpu: 250m}}}\n");
    EXPECT_EQ(in.shape().score_cpu, 350);
    EXPECT_EQ(in.shape().score_memory, 400 * kMi);
    EXPECT_EQ(in.shape().requests.get(kCpu), 250);
}

TEST(DecodePodSpec, ResizesOnTheirWay) {
    const std::string spec = "  containers:\n  - {name: c, image: x, resources: {requests: {cpu: 4}}}\n";
    const std::string status =
        "  containerStatuses: [{name: c, allocatedResources: {cpu: 2}, resources: {requests: {cpu: 1}}}]\n";
    const auto with = [&](const std::string& condition) {
        return load_pod(spec + "status:\n" + status +
                        "  conditions: [{type: PodResizePending, status: \"True\", reason: " + condition + "}]\n");
    };
    const Loaded deferred = with("Deferred");
    EXPECT_EQ(deferred.shape().requests.get(kCpu), 4000);
    ASSERT_TRUE(deferred.one<Pod>().more().resize_held);
    EXPECT_EQ(deferred.one<Pod>().more().resize_held->get(kCpu), 2000);
    EXPECT_EQ(with("Infeasible").shape().requests.get(kCpu), 2000);
    EXPECT_FALSE(with("Infeasible").one<Pod>().more().resize_held);
    EXPECT_EQ(load_pod(spec + "status:\n" + status).shape().requests.get(kCpu), 4000);
    const Loaded shrinking =
        load_pod("  containers:\n  - {name: c, image: x, resources: {requests: {cpu: 1}}}\nstatus:\n" + status);
    EXPECT_EQ(shrinking.shape().requests.get(kCpu), 2000);
}

TEST(DecodePodSpec, BadQuantitiesNameTheirPath) {
    EXPECT_NE(
        load_pod("  containers:\n  - name: c\n    resources:\n      requests:\n        cpu: lots\n")
            .error.find("in.yaml:12: Pod ns/p: spec.containers[0].resources.requests.cpu: \"lots\" is not a quantity"),
        std::string::npos);
    EXPECT_EQ(load_pod("  containers:\n  - resources: {requests: {nvidia.com/gpu: -1}}\n").error,
              "in.yaml:9: Pod ns/p: spec.containers[0].resources.requests[nvidia.com/gpu]: \"-1\" is negative");
    EXPECT_NE(load_pod("  containers:\n  - resources: {requests: {memory: 99E}}\n").error.find("too large"),
              std::string::npos);
    EXPECT_EQ(load_pod("  containers:\n  - resources: {requests: {memory: true}}\n").error,
              "in.yaml:9: Pod ns/p: spec.containers[0].resources.requests.memory: must be a quantity, not a boolean");
}

TEST(DecodePodSpec, SumsDoNotWrap) {
    const Loaded in =
        load_pod("  containers:\n  - resources: {requests: {memory: 7E}}\n  - resources: {requests: {memory: 7E}}\n");
    EXPECT_EQ(in.shape().requests.get(kMemory), INT64_MAX);
}

TEST(DecodePodSpec, HostPorts) {
    const Loaded in = load_pod(R"(  initContainers:
  - {name: ends, ports: [{hostPort: 1}]}
  - {name: stays, restartPolicy: Always, ports: [{hostPort: 2, protocol: UDP}]}
  containers:
  - {name: c, ports: [{containerPort: 9, hostPort: 3, hostIP: 0.0.0.0}, {containerPort: 8}, {hostPort: 3, hostIP: 10.0.0.1}]}
)");
    const auto& ports = in.shape().ports;
    ASSERT_EQ(ports.size(), 3U);
    EXPECT_EQ(std::count(ports.begin(), ports.end(), HostPort{{}, Protocol::kUdp, 2}), 1);
    EXPECT_EQ(std::count(ports.begin(), ports.end(), HostPort{{}, Protocol::kTcp, 3}), 1);
    EXPECT_EQ(std::count(ports.begin(), ports.end(), HostPort{in.words->string("10.0.0.1"), Protocol::kTcp, 3}), 1);

    const Loaded host = load_pod("  hostNetwork: true\n  containers:\n  - {name: c, ports: [{containerPort: 80}]}\n");
    ASSERT_EQ(host.shape().ports.size(), 1U);
    EXPECT_EQ(host.shape().ports[0].port, 80);
    EXPECT_EQ(load_pod("  containers:\n  - {name: c, ports: [{hostPort: 70000}]}\n").error,
              "in.yaml:9: Pod ns/p: spec.containers[0].ports[0].hostPort: 70000 is more than 65535");
}

TEST(DecodePodSpec, Tolerations) {
    const Loaded in = load_pod(R"(  tolerations:
  - {key: a, value: x, effect: NoSchedule}
  - {operator: Exists}
  - {key: a, operator: Equal, value: x, effect: NoSchedule}
)");
    EXPECT_EQ(in.shape().tolerations.size(), 2U);  // equal ones are one
    const Loaded newer = load_pod("  tolerations: [{key: a, operator: Gt, value: '3'}, {key: b, operator: Exists}]\n");
    EXPECT_EQ(newer.error, "");
    EXPECT_EQ(newer.shape().tolerations.size(), 1U);
    EXPECT_EQ(newer.report.warnings,
              (Counts{{"toleration operator \"Gt\" is not known: such a toleration tolerates nothing", 1}}));
    EXPECT_EQ(load_pod("  tolerations: [{value: x}]\n").error,
              "in.yaml:8: Pod ns/p: spec.tolerations[0]: has no key: then its operator must be Exists");
    EXPECT_EQ(load_pod("  tolerations: [{key: a, operator: Exists, value: x}]\n").error,
              "in.yaml:8: Pod ns/p: spec.tolerations[0]: has a value: then its operator must not be Exists");
}

TEST(DecodePodSpec, NodeAffinity) {
    const Loaded in = load_pod(R"(  nodeSelector: {disk: ssd, zone: a}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions:
          - {key: cores, operator: Gt, values: ["8"]}
          - {key: zone, operator: NotIn, values: [b, a, b]}
        - matchFields: [{key: metadata.name, operator: In, values: [n7]}]
        - {}
      preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 5, preference: {matchExpressions: [{key: gpu, operator: Exists}]}}
      - {weight: 9, preference: {}}
)");
    const PodSpec& shape = in.shape();
    EXPECT_EQ(shape.node_selector.size(), 2U);
    EXPECT_TRUE(shape.node_affinity_required);
    ASSERT_EQ(shape.node_terms.size(), 3U);
    Labels labels;
    labels.set(in.words->string("cores"), in.words->string("16"));
    labels.set(in.words->string("zone"), in.words->string("c"));
    const auto matching = [&](const char* name) {
        return std::count_if(shape.node_terms.begin(), shape.node_terms.end(), [&](const NodeSelectorTerm& term) {
            return term.matches(labels, in.words->string(name), *in.words);
        });
    };
    EXPECT_EQ(matching("n1"), 1);
    EXPECT_EQ(matching("n7"), 2);
    EXPECT_EQ(shape.preferred_nodes.size(), 1U);  // an empty preference says nothing
    EXPECT_EQ(shape.preferred_nodes[0].weight, 5);
}

TEST(DecodePodSpec, PodAffinityFillsInNamespaceAndLabelKeys) {
    const Loaded in = load_pod(R"(  affinity:
    podAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: zone, labelSelector: {matchLabels: {app: db}}, matchLabelKeys: [ver, none], mismatchLabelKeys: [tenant]}
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: host, labelSelector: {}, namespaces: [b, a]}
      - {topologyKey: host, labelSelector: {}, namespaceSelector: {}}
      preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 10, podAffinityTerm: {topologyKey: rack, labelSelector: {matchLabels: {app: web}}}}
)",
                               "  labels: {ver: v1, tenant: t}\n");
    const PodSpec& shape = in.shape();
    const auto id = [&](const char* text) { return in.words->string(text); };
    ASSERT_EQ(shape.affinity.size(), 1U);
    EXPECT_EQ(shape.affinity[0].namespaces, std::vector<StringId>{id("ns")});
    const auto& requirements = shape.affinity[0].selector.requirements;
    ASSERT_EQ(requirements.size(), 3U);
    const auto has = [&](const char* key, SelectorOp op, const char* value) {
        return std::count(requirements.begin(), requirements.end(), Requirement{id(key), op, {id(value)}, 0}) == 1;
    };
    EXPECT_TRUE(has("app", SelectorOp::kIn, "db"));
    EXPECT_TRUE(has("ver", SelectorOp::kIn, "v1"));
    EXPECT_TRUE(has("tenant", SelectorOp::kNotIn, "t"));
    ASSERT_EQ(shape.anti_affinity.size(), 2U);
    for (const PodAffinityTerm& term : shape.anti_affinity)
        EXPECT_EQ(term.namespaces.empty(), !term.namespace_selector.null);
    ASSERT_EQ(shape.preferred_pods.size(), 1U);
    EXPECT_EQ(shape.preferred_pods[0].weight, -10);
}

TEST(DecodePodSpec, MergedKeysThatTheApiServerMergedAlready) {
    const char* labels = "  labels: {ver: v1}\n";
    const Loaded twice = load_pod(
        "  topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, matchLabelKeys: [ver], labelSelector: "
        "{matchExpressions: [{key: ver, operator: In, values: [v1]}]}}]\n",
        labels);
    ASSERT_EQ(twice.shape().spread.size(), 1U);
    EXPECT_EQ(twice.shape().spread[0].selector.requirements.size(), 1U);
}

TEST(DecodePodSpec, Spread) {
    const Loaded in = load_pod(R"(  topologySpreadConstraints:
  - {maxSkew: 2, minDomains: 3, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, nodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor}
)");
    ASSERT_EQ(in.shape().spread.size(), 1U);
    const SpreadConstraint& spread = in.shape().spread[0];
    EXPECT_EQ(spread.max_skew, 2);
    EXPECT_EQ(spread.min_domains, 3);
    EXPECT_FALSE(spread.hard);
    EXPECT_FALSE(spread.honor_node_affinity);
    EXPECT_TRUE(spread.honor_taints);
    EXPECT_TRUE(spread.selector.null);
    EXPECT_EQ(load_pod("  topologySpreadConstraints: [{maxSkew: 0, topologyKey: z}]\n").error,
              "in.yaml:8: Pod ns/p: spec.topologySpreadConstraints[0].maxSkew: 0 is less than 1");
    EXPECT_EQ(load_pod("  topologySpreadConstraints: [{maxSkew: 1}]\n").error,
              "in.yaml:8: Pod ns/p: spec.topologySpreadConstraints[0].topologyKey: is missing");
}

TEST(DecodePodSpec, Volumes) {
    const Loaded in = load_pod(R"(  volumes:
  - {name: config, configMap: {name: x}}
  - {name: data, persistentVolumeClaim: {claimName: data-0, readOnly: true}}
  - {name: scratch, ephemeral: {volumeClaimTemplate: {}}}
  - {name: disk, gcePersistentDisk: {pdName: pd}}
  - {name: ebs, awsElasticBlockStore: {volumeID: vol}}
  - {name: block, rbd: {image: img, monitors: [a]}}
  - {name: lun, iscsi: {iqn: iqn.1, targetPortal: t}}
  - {name: inline, csi: {driver: drv}}
)");
    const auto& volumes = in.shape().volumes;
    EXPECT_EQ(volumes.size(), 7U);
    const auto has = [&](VolumeKind kind, const char* id, bool read_only) {
        return std::count(volumes.begin(), volumes.end(), VolumeUse{kind, in.words->string(id), read_only}) == 1;
    };
    EXPECT_TRUE(has(VolumeKind::kClaim, "data-0", true));
    EXPECT_TRUE(has(VolumeKind::kClaim, "p-scratch", false));
    EXPECT_TRUE(has(VolumeKind::kGcePersistentDisk, "pd", false));
    EXPECT_TRUE(has(VolumeKind::kAwsElasticBlockStore, "vol", false));
    EXPECT_TRUE(has(VolumeKind::kRbd, "rbd/img", false));
    EXPECT_TRUE(has(VolumeKind::kIscsi, "iqn.1", false));
    EXPECT_TRUE(has(VolumeKind::kCsiInline, "drv", false));
    EXPECT_EQ(load_pod("  volumes: [{name: v, persistentVolumeClaim: {}}]\n").error,
              "in.yaml:8: Pod ns/p: spec.volumes[0].persistentVolumeClaim: names no volume");
}

TEST(DecodePodSpec, ImagesAsNodesNameThem) {
    const Loaded in =
        load_pod("  containers: [{name: a, image: host:5000/app}, {name: b, image: app:1}, {name: c, image: app:1}]\n");
    const auto& images = in.shape().images;
    ASSERT_EQ(images.size(), 3U);
    EXPECT_EQ(std::count(images.begin(), images.end(), in.words->string("app:1")), 2);
    EXPECT_EQ(std::count(images.begin(), images.end(), in.words->string("host:5000/app:latest")), 1);
}

TEST(DecodePodSpec, EqualShapesAreOne) {
    const Loaded in = load_text(R"(
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeSelector: {x: a, y: b}, tolerations: [{key: k, operator: Exists}, {key: l, operator: Exists}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {tolerations: [{key: l, operator: Exists}, {key: k, operator: Exists}], nodeSelector: {y: b, x: a}, nodeName: n}}
)");
    ASSERT_EQ(in.error, "");
    EXPECT_EQ(std::get<Pod>(in.objects[0]).spec, std::get<Pod>(in.objects[1]).spec);
    EXPECT_EQ(in.words->spec_count(), 1U);
}

}  // namespace
}  // namespace reprieve
