#include "kube/kinds.h"

#include <fmt/format.h>

#include "base/check.h"

namespace reprieve {
namespace {

Object named_pod(StringId ns, std::string_view name, Vocabulary&) {
    Pod pod;
    pod.ns = ns;
    pod.name = name;
    return pod;
}

template <class T>
Object named_global(StringId, std::string_view name, Vocabulary& words) {
    T object;
    object.name = words.string(name);
    return object;
}

template <class T>
Object named_local(StringId ns, std::string_view name, Vocabulary& words) {
    T object;
    object.ns = ns;
    object.name = words.string(name);
    return object;
}

template <WorkloadKind Kind>
Object named_workload(StringId ns, std::string_view name, Vocabulary& words) {
    Workload workload;
    workload.kind = Kind;
    workload.ns = ns;
    workload.name = words.string(name);
    return workload;
}

Object named_quota(StringId ns, std::string_view name, Vocabulary& words) {
    Queue quota;
    quota.is_quota = true;
    quota.ns = ns;
    quota.name = words.string(name);
    return quota;
}

constexpr std::string_view kV1[] = {"v1"};
constexpr std::string_view kV1Alpha1[] = {"v1alpha1"};
constexpr std::string_view kV1Beta1[] = {"v1beta1"};
constexpr std::string_view kV1Alpha3[] = {"v1alpha3"};
constexpr std::string_view kDeviceVersions[] = {"v1", "v1beta2", "v1beta1"};
constexpr std::string_view kTaintRuleVersions[] = {"v1", "v1beta2", "v1alpha3"};
constexpr std::string_view kCoreGroups[] = {"v1beta1", "v1alpha3", "v1alpha2"};

constexpr FollowedKind kKinds[] = {
    {"Node", "", kV1, "nodes", false, true, named_global<Node>},
    {"Namespace", "", kV1, "namespaces", false, true, named_global<Namespace>},
    {"PriorityClass", "scheduling.k8s.io", kV1, "priorityclasses", false, true, named_global<PriorityClass>},
    {"PodDisruptionBudget", "policy", kV1, "poddisruptionbudgets", true, true, named_local<DisruptionBudget>},
    {"PersistentVolume", "", kV1, "persistentvolumes", false, true, named_global<PersistentVolume>},
    {"PersistentVolumeClaim", "", kV1, "persistentvolumeclaims", true, true, named_local<VolumeClaim>},
    {"StorageClass", "storage.k8s.io", kV1, "storageclasses", false, true, named_global<StorageClass>},
    {"CSINode", "storage.k8s.io", kV1, "csinodes", false, true, named_global<CsiNode>},
    {"CSIDriver", "storage.k8s.io", kV1, "csidrivers", false, false, named_global<CsiDriver>},
    {"CSIStorageCapacity", "storage.k8s.io", kV1, "csistoragecapacities", true, false, named_local<CsiStorageCapacity>},
    {"ResourceSlice", "resource.k8s.io", kDeviceVersions, "resourceslices", false, false, named_global<ResourceSlice>},
    {"DeviceClass", "resource.k8s.io", kDeviceVersions, "deviceclasses", false, false, named_global<DeviceClass>},
    {"ResourceClaim", "resource.k8s.io", kDeviceVersions, "resourceclaims", true, false, named_local<ResourceClaim>},
    {"ResourceClaimTemplate",
     "resource.k8s.io",
     kDeviceVersions,
     "resourceclaimtemplates",
     true,
     false,
     named_local<ResourceClaimTemplate>},
    {"DeviceTaintRule",
     "resource.k8s.io",
     kTaintRuleVersions,
     "devicetaintrules",
     false,
     false,
     named_global<DeviceTaintRule>},
    {"Deployment", "apps", kV1, "deployments", true, true, named_workload<WorkloadKind::kDeployment>},
    {"ReplicaSet", "apps", kV1, "replicasets", true, true, named_workload<WorkloadKind::kReplicaSet>},
    {"PodGroup", "scheduling.k8s.io", kCoreGroups, "podgroups", true, false, named_local<Gang>},
    {"CompositePodGroup",
     "scheduling.k8s.io",
     kV1Alpha3,
     "compositepodgroups",
     true,
     false,
     named_local<CompositeGroup>},
    {"PodGroup", "scheduling.volcano.sh", kV1Beta1, "podgroups", true, false, named_local<Gang>},
    {"Queue", "scheduling.volcano.sh", kV1Beta1, "queues", false, false, named_global<Queue>},
    {"HyperNode", "topology.volcano.sh", kV1Alpha1, "hypernodes", false, false, named_global<HyperNode>},
    {"Job", "batch.volcano.sh", kV1Alpha1, "jobs", true, false, named_workload<WorkloadKind::kVolcanoJob>},
    {"PodGroup", "scheduling.x-k8s.io", kV1Alpha1, "podgroups", true, false, named_local<Gang>},
    {"PodGroup", "scheduling.sigs.k8s.io", kV1Alpha1, "podgroups", true, false, named_local<Gang>},
    {"ElasticQuota", "scheduling.x-k8s.io", kV1Alpha1, "elasticquotas", true, false, named_quota},
    {"ElasticQuota", "scheduling.sigs.k8s.io", kV1Alpha1, "elasticquotas", true, false, named_quota},
    {"Revision", "serving.knative.dev", kV1, "revisions", true, false, named_workload<WorkloadKind::kRevision>},
    {"ServingDeployment", "reprieve.dev", kV1, "servingdeployments", true, false, named_local<ServingDeployment>},
    {"Pod", "", kV1, "pods", true, true, named_pod},
};

}  // namespace

std::span<const FollowedKind> followed_kinds() { return kKinds; }

std::size_t find_followed(std::string_view kind, std::string_view group) {
    const std::span<const FollowedKind> kinds = followed_kinds();
    std::size_t at = 0;
    while (at < kinds.size() && (kinds[at].kind != kind || kinds[at].group != group))
        ++at;
    return at;
}

std::string api_version(const FollowedKind& kind, std::string_view version) {
    return kind.group.empty() ? std::string(version) : fmt::format("{}/{}", kind.group, version);
}

std::string api_root(std::string_view api_version) {
    const bool core = api_version.find('/') == std::string_view::npos;
    return fmt::format("{}/{}", core ? "/api" : "/apis", api_version);
}

std::string object_path(std::string_view api_version,
                        std::string_view ns,
                        std::string_view plural,
                        std::string_view name,
                        std::string_view sub) {
    std::string path = api_root(api_version);
    if (!ns.empty()) path += fmt::format("/namespaces/{}", ns);
    path += fmt::format("/{}", plural);
    if (!name.empty()) path += fmt::format("/{}", name);
    if (!sub.empty()) path += fmt::format("/{}", sub);
    return path;
}

}  // namespace reprieve
