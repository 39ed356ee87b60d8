#include "manifest/known_fields.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <vector>

#include "manifest/suggest.h"

namespace reprieve {
namespace {

// Fields of a shape, by spaces; "name:Shape" says what stands in it (also as items of a list), without it anything may.
// A shape that starts with ~ may have fields that are not listed.
constexpr std::pair<std::string_view, std::string_view> kShapes[] = {
    {"Object", "apiVersion kind metadata:Meta spec status"},
    {"Meta",
     "annotations:Notes clusterName creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers "
     "generateName "
     "generation initializers labels:Notes managedFields name namespace ownerReferences:Owner resourceVersion selfLink "
     "uid"},
    {"Owner", "apiVersion blockOwnerDeletion controller kind name uid"},
    {"Pod", "apiVersion kind metadata:Meta spec:PodSpec status:~PodStatus"},
    {"Template", "metadata:Meta spec:PodSpec"},
    {"PodSpec",
     "activeDeadlineSeconds affinity:Affinity automountServiceAccountToken containers:Container dnsConfig dnsPolicy "
     "enableServiceLinks ephemeralContainers hostAliases hostIPC hostNetwork hostPID hostUsers hostname "
     "hostnameOverride "
     "imagePullSecrets initContainers:Container nodeName nodeSelector os overhead preemptionPolicy priority "
     "priorityClassName readinessGates resourceClaims resources:Resources restartPolicy runtimeClassName schedulerName "
     "schedulingGates schedulingGroup securityContext serviceAccount serviceAccountName setHostnameAsFQDN "
     "shareProcessNamespace subdomain terminationGracePeriodSeconds tolerations:Toleration "
     "topologySpreadConstraints:Spread volumes:Volume workloadRef"},
    {"Container",
     "args command env envFrom image imagePullPolicy lifecycle livenessProbe name ports:Port readinessProbe "
     "resizePolicy "
     "resources:Resources restartPolicy restartPolicyRules securityContext startupProbe stdin stdinOnce "
     "terminationMessagePath terminationMessagePolicy tty volumeDevices volumeMounts workingDir"},
    {"Port", "containerPort hostIP hostPort name protocol"},
    {"Resources", "claims limits requests"},
    {"Affinity", "nodeAffinity:NodeAffinity podAffinity:PodAffinity podAntiAffinity:PodAffinity"},
    {"NodeAffinity",
     "requiredDuringSchedulingIgnoredDuringExecution:NodeSelector "
     "preferredDuringSchedulingIgnoredDuringExecution:PreferredNode"},
    {"NodeSelector", "nodeSelectorTerms:NodeTerm"},
    {"NodeTerm", "matchExpressions:Expression matchFields:Expression"},
    {"PreferredNode", "weight preference:NodeTerm"},
    {"PodAffinity",
     "requiredDuringSchedulingIgnoredDuringExecution:PodTerm "
     "preferredDuringSchedulingIgnoredDuringExecution:WeightedTerm"},
    {"WeightedTerm", "weight podAffinityTerm:PodTerm"},
    {"PodTerm",
     "labelSelector:Selector matchLabelKeys mismatchLabelKeys namespaceSelector:Selector namespaces topologyKey"},
    {"Selector", "matchExpressions:Expression matchLabels"},
    {"Expression", "key operator values"},
    {"Toleration", "effect key operator tolerationSeconds value"},
    {"Spread",
     "labelSelector:Selector matchLabelKeys maxSkew minDomains nodeAffinityPolicy nodeTaintsPolicy topologyKey "
     "whenUnsatisfiable"},
    {"Volume",
     "awsElasticBlockStore azureDisk azureFile cephfs cinder configMap csi downwardAPI emptyDir ephemeral fc "
     "flexVolume "
     "flocker gcePersistentDisk gitRepo glusterfs hostPath image iscsi name nfs persistentVolumeClaim:ClaimRef "
     "photonPersistentDisk portworxVolume projected quobyte rbd scaleIO secret storageos vsphereVolume"},
    {"ClaimRef", "claimName readOnly"},
    {"Node", "apiVersion kind metadata:Meta spec:NodeSpec status:~NodeStatus"},
    {"NodeSpec", "configSource externalID podPreemptionPolicy podCIDR podCIDRs providerID taints:Taint unschedulable"},
    {"Taint", "effect key timeAdded value"},
    {"PriorityClass", "apiVersion description globalDefault kind metadata:Meta preemptionPolicy value"},
    {"Budget", "apiVersion kind metadata:Meta spec:BudgetSpec status:~BudgetStatus"},
    {"BudgetSpec", "maxUnavailable minAvailable selector:Selector unhealthyPodEvictionPolicy"},
    {"VolcanoGroup", "apiVersion kind metadata:Meta spec:VolcanoGroupSpec status"},
    {"VolcanoGroupSpec",
     "minMember minResources minTaskMember networkTopology:Topology priorityClassName queue subGroupPolicy:SubGroup"},
    {"Topology", "highestTierAllowed highestTierName mode"},
    {"SubGroup", "labelSelector:Selector matchLabelKeys minSubGroups name networkTopology:Topology subGroupSize"},
    {"CoreGroup", "apiVersion kind metadata:Meta spec:~CoreGroupSpec status"},
    {"~CoreGroupSpec",
     "disruptionMode parentCompositePodGroupName podGroupTemplateRef preemptionPolicy priority priorityClassName "
     "resourceClaims schedulingConstraints schedulingPolicy:~CorePolicy"},
    {"~CorePolicy", "basic gang:~CoreGangPolicy"},
    {"~CoreGangPolicy", "minCount minGroupCount"},
    {"StorageClass",
     "allowVolumeExpansion allowedTopologies apiVersion kind metadata:Meta mountOptions parameters provisioner "
     "reclaimPolicy volumeBindingMode"},
    {"ClaimObject", "apiVersion kind metadata:Meta spec:ClaimSpec status"},
    {"ClaimSpec",
     "accessModes dataSource dataSourceRef resources selector:Selector storageClassName volumeAttributesClassName "
     "volumeMode "
     "volumeName"},
    {"PlainGroup", "apiVersion kind metadata:Meta spec:PlainGroupSpec status"},
    {"PlainGroupSpec", "minMember minResources priorityClassName queue scheduleTimeoutSeconds"},
    {"Queue", "apiVersion kind metadata:Meta spec:QueueSpec status"},
    {"QueueSpec",
     "affinity capability dequeueStrategy deserved extendClusters guarantee:Guarantee parent priority reclaimable type "
     "weight"},
    {"Guarantee", "resource"},
    {"ElasticQuota", "apiVersion kind metadata:Meta spec:ElasticQuotaSpec status"},
    {"ElasticQuotaSpec", "max min"},
    {"HyperNode", "apiVersion kind metadata:Meta spec:HyperNodeSpec status"},
    {"HyperNodeSpec", "members:HyperMember tier tierName"},
    {"HyperMember", "selector:HyperSelector type"},
    {"HyperSelector", "exactMatch labelMatch:Selector regexMatch"},
    {"Deployment", "apiVersion kind metadata:Meta spec:DeploymentSpec status"},
    {"DeploymentSpec",
     "minReadySeconds paused progressDeadlineSeconds replicas revisionHistoryLimit rollbackTo selector:Selector "
     "strategy "
     "template:Template"},
    {"ReplicaSet", "apiVersion kind metadata:Meta spec:ReplicaSetSpec status"},
    {"ReplicaSetSpec", "minReadySeconds replicas selector:Selector template:Template"},
    {"StatefulSet", "apiVersion kind metadata:Meta spec:StatefulSetSpec status"},
    {"StatefulSetSpec",
     "minReadySeconds ordinals persistentVolumeClaimRetentionPolicy podManagementPolicy replicas revisionHistoryLimit "
     "selector:Selector serviceName template:Template updateStrategy volumeClaimTemplates"},
    {"DaemonSet", "apiVersion kind metadata:Meta spec:DaemonSetSpec status"},
    {"DaemonSetSpec", "minReadySeconds revisionHistoryLimit selector:Selector template:Template updateStrategy"},
    {"Job", "apiVersion kind metadata:Meta spec:JobSpec status"},
    {"JobSpec",
     "activeDeadlineSeconds backoffLimit backoffLimitPerIndex completionMode completions managedBy manualSelector "
     "maxFailedIndexes parallelism podFailurePolicy podReplacementPolicy selector:Selector successPolicy suspend "
     "template:Template ttlSecondsAfterFinished"},
    {"VolcanoJob", "apiVersion kind metadata:Meta spec:VolcanoJobSpec status"},
    {"VolcanoJobSpec",
     "maxRetry minAvailable minSuccess networkTopology:Topology plugins policies priorityClassName queue "
     "runningEstimate "
     "schedulerName tasks:Task ttlSecondsAfterFinished volumes"},
    {"Task", "dependsOn maxRetry minAvailable name partitionPolicy policies replicas template:Template topologyPolicy"},
    {"JobSet", "apiVersion kind metadata:Meta spec:~JobSetSpec status"},
    {"~JobSetSpec",
     "coordinator failurePolicy managedBy network replicatedJobs:~ReplicatedJob startupPolicy successPolicy suspend "
     "ttlSecondsAfterFinished volumeClaimPolicies"},
    {"~ReplicatedJob", "dependsOn groupName name replicas template:JobTemplate"},
    {"JobTemplate", "metadata:Meta spec:JobSpec"},
    {"WorkerSet", "apiVersion kind metadata:Meta spec:~WorkerSetSpec status"},
    {"~WorkerSetSpec", "leaderWorkerTemplate:~WorkerTemplate networkConfig replicas rolloutStrategy startupPolicy"},
    {"~WorkerTemplate",
     "leaderTemplate:Template resizePolicy restartPolicy size subGroupPolicy volumeClaimTemplates "
     "workerTemplate:Template"},
    {"Knative", "apiVersion kind metadata:Meta spec:~KnativeSpec status"},
    {"~KnativeSpec", "template:KnativeTemplate traffic"},
    {"KnativeTemplate", "metadata:Meta spec:~RevisionSpec"},
    {"Revision", "apiVersion kind metadata:Meta spec:~RevisionSpec status"},
    {"~RevisionSpec",
     "affinity:Affinity containerConcurrency containers:Container idleTimeoutSeconds initContainers:Container "
     "nodeSelector priorityClassName responseStartTimeoutSeconds runtimeClassName schedulerName serviceAccountName "
     "timeoutSeconds tolerations:Toleration topologySpreadConstraints:Spread volumes:Volume"},
    {"DeviceClaim", "apiVersion kind metadata:Meta spec:~DeviceClaimSpec status"},
    {"~DeviceClaimSpec", "devices:~DeviceAsk"},
    {"~DeviceAsk", "config constraints:~DeviceConstraint requests:~DeviceRequest"},
    {"~DeviceConstraint", "distinctAttribute matchAttribute requests"},
    {"~DeviceRequest",
     "adminAccess allocationMode capacity:~DeviceNeed count deviceClassName exactly:~DeviceWish "
     "firstAvailable:~DeviceWish name selectors:~DeviceSelector tolerations:Toleration"},
    {"~DeviceWish",
     "adminAccess allocationMode capacity:~DeviceNeed count derivedAttributes deviceClassName name "
     "selectors:~DeviceSelector tolerations:Toleration"},
    {"~DeviceNeed", "requests"},
    {"~DeviceSelector", "cel:~DeviceExpression"},
    {"~DeviceExpression", "expression"},
    {"DeviceClass", "apiVersion kind metadata:Meta spec:~DeviceClassSpec status"},
    {"~DeviceClassSpec", "config extendedResourceName selectors:~DeviceSelector suitableNodes:NodeSelector"},
    {"DeviceSlice", "apiVersion kind metadata:Meta spec:~DeviceSliceSpec status"},
    {"~DeviceSliceSpec",
     "allNodes devices:~PooledDevice driver nodeName nodeSelector:NodeSelector partitionTypeAttribute "
     "perDeviceNodeSelection pool:~DevicePool sharedCounters:~CounterSet skipNodeOperations"},
    {"~DevicePool", "generation name resourceSliceCount"},
    {"~CounterSet", "counters name"},
    {"~PooledDevice",
     "allNodes allowMultipleAllocations attributes basic:~PooledDevice bindingConditions bindingFailureConditions "
     "bindsToNode capacity consumesCounters:~CounterUse name nodeAllocatableResources nodeName "
     "nodeSelector:NodeSelector "
     "taints:Taint"},
    {"~CounterUse", "compatibilityGroups counterSet counters"},
    {"DeviceRule", "apiVersion kind metadata:Meta spec:~DeviceRuleSpec status"},
    {"~DeviceRuleSpec", "deviceSelector:~DeviceChoice taint:Taint"},
    {"~DeviceChoice", "device deviceClassName driver pool selectors:~DeviceSelector"},
    {"DeviceClaimTemplate", "apiVersion kind metadata:Meta spec:DeviceClaimPattern"},
    {"DeviceClaimPattern", "metadata:Meta spec:~DeviceClaimSpec"},
    {"~NodeStatus",
     "addresses allocatable capacity conditions config daemonEndpoints declaredFeatures features images nodeInfo phase "
     "runtimeHandlers volumesAttached volumesInUse"},
    {"~PodStatus",
     "allocatedResources conditions containerStatuses ephemeralContainerStatuses extendedResourceClaimStatus hostIP "
     "hostIPs initContainerStatuses message nominatedNodeName observedGeneration phase podIP podIPs qosClass reason "
     "resize resourceClaimStatuses resources startTime"},
    {"~BudgetStatus",
     "conditions currentHealthy desiredHealthy disruptedPods disruptionsAllowed expectedPods observedGeneration"},
    {"Serving", "apiVersion kind metadata:Meta spec:ServingSpec status"},
    {"ServingSpec", "planes:Plane priority priorityClassName replicas resources"},
    {"Plane", "committed name score"},
};

struct KindShape {
    std::string_view kind;
    std::string_view group;
    std::string_view shape;
};

constexpr KindShape kKindShapes[] = {
    {"Pod", "", "Pod"},
    {"Node", "", "Node"},
    {"PriorityClass", "scheduling.k8s.io", "PriorityClass"},
    {"PodDisruptionBudget", "policy", "Budget"},
    {"PodGroup", "scheduling.volcano.sh", "VolcanoGroup"},
    {"PodGroup", "scheduling.x-k8s.io", "PlainGroup"},
    {"PodGroup", "scheduling.sigs.k8s.io", "PlainGroup"},
    {"PodGroup", "scheduling.k8s.io", "CoreGroup"},
    {"CompositePodGroup", "scheduling.k8s.io", "CoreGroup"},
    {"PersistentVolumeClaim", "", "ClaimObject"},
    {"Namespace", "", "Object"},
    {"Service", "serving.knative.dev", "Knative"},
    {"Revision", "serving.knative.dev", "Revision"},
    {"JobSet", "jobset.x-k8s.io", "JobSet"},
    {"LeaderWorkerSet", "leaderworkerset.x-k8s.io", "WorkerSet"},
    {"StorageClass", "storage.k8s.io", "StorageClass"},
    {"ResourceClaim", "resource.k8s.io", "DeviceClaim"},
    {"DeviceClass", "resource.k8s.io", "DeviceClass"},
    {"ResourceSlice", "resource.k8s.io", "DeviceSlice"},
    {"DeviceTaintRule", "resource.k8s.io", "DeviceRule"},
    {"ResourceClaimTemplate", "resource.k8s.io", "DeviceClaimTemplate"},
    {"Queue", "scheduling.volcano.sh", "Queue"},
    {"ElasticQuota", "scheduling.sigs.k8s.io", "ElasticQuota"},
    {"ElasticQuota", "scheduling.x-k8s.io", "ElasticQuota"},
    {"HyperNode", "topology.volcano.sh", "HyperNode"},
    {"Deployment", "apps", "Deployment"},
    {"ReplicaSet", "apps", "ReplicaSet"},
    {"StatefulSet", "apps", "StatefulSet"},
    {"DaemonSet", "apps", "DaemonSet"},
    {"Job", "batch", "Job"},
    {"Job", "batch.volcano.sh", "VolcanoJob"},
    {"ServingDeployment", "reprieve.dev", "Serving"},
};

// Labels and annotations below our own prefix.
constexpr std::string_view kPrefix = "reprieve.dev/";
constexpr std::string_view kNotes[] = {
    "reprieve.dev/allocated",     "reprieve.dev/claimed-by",   "reprieve.dev/desired-replicas",
    "reprieve.dev/device-policy", "reprieve.dev/devices",      "reprieve.dev/last-checkpoint",
    "reprieve.dev/min-runtime",   "reprieve.dev/over-since",   "reprieve.dev/plan",
    "reprieve.dev/plane",         "reprieve.dev/preemptible",  "reprieve.dev/queue-status",
    "reprieve.dev/request",       "reprieve.dev/restart-cost", "reprieve.dev/same-group",
    "reprieve.dev/serving",       "reprieve.dev/sim-run",      "reprieve.dev/sim-start",
    "reprieve.dev/sim-terminate",
};

struct Shape {
    std::vector<std::string_view> names;  // sorted
    std::vector<std::string_view> inner;  // parallel: the shape of what stands there; empty: anything
};

std::map<std::string_view, Shape> read_shapes() {
    std::map<std::string_view, Shape> out;
    for (const auto& [name, fields] : kShapes) {
        std::vector<std::pair<std::string_view, std::string_view>> list;
        for (std::string_view rest = fields; !rest.empty();) {
            const std::string_view word = rest.substr(0, std::min(rest.find(' '), rest.size()));
            rest.remove_prefix(std::min(word.size() + 1, rest.size()));
            const std::size_t colon = std::min(word.find(':'), word.size());
            list.emplace_back(word.substr(0, colon), word.substr(std::min(colon + 1, word.size())));
        }
        std::ranges::sort(list);
        Shape& shape = out[name];
        for (const auto& [field, inner] : list) {
            shape.names.push_back(field);
            shape.inner.push_back(inner);
        }
    }
    return out;
}

const Shape* find_shape(std::string_view name) {
    static const std::map<std::string_view, Shape> kAll = read_shapes();
    const auto at = kAll.find(name);
    return at == kAll.end() ? nullptr : &at->second;
}

class FieldWalk {
public:
    explicit FieldWalk(const KnownFields::Report& report) : report_(report) {}

    // What is of another type than expected is somebody else's to complain about.
    void look(simdjson::ondemand::value value, std::string_view shape, const std::string& path) {
        simdjson::ondemand::json_type type{};
        if (value.type().get(type) != simdjson::SUCCESS) return;
        if (type == simdjson::ondemand::json_type::array) {
            simdjson::ondemand::array items;
            if (value.get_array().get(items) != simdjson::SUCCESS) return;
            std::size_t index = 0;
            for (auto item : items) {
                simdjson::ondemand::value one;
                if (item.get(one) != simdjson::SUCCESS) return;
                look(one, shape, fmt::format("{}[{}]", path, index++));
            }
        } else if (type == simdjson::ondemand::json_type::object) {
            look_at_object(value, shape, path);
        }
    }

private:
    void look_at_object(simdjson::ondemand::value& value, std::string_view shape, const std::string& path) {
        simdjson::ondemand::object object;
        if (value.get_object().get(object) != simdjson::SUCCESS) return;
        const Shape* known = find_shape(shape);
        for (auto entry : object) {
            simdjson::ondemand::field field;
            if (std::move(entry).get(field) != simdjson::SUCCESS) return;
            // As written: no field's name has escapes in it.
            const char* where = field.key().raw();
            const std::string_view key(where, static_cast<std::size_t>(std::strchr(where, '"') - where));
            if (known == nullptr) {
                if (key.starts_with(kPrefix) && std::ranges::find(kNotes, key) == std::end(kNotes))
                    report_(fmt::format("{}[{}]", path, key), "unknown name" + suggested(key, kNotes), where);
                continue;
            }
            const auto at = std::ranges::lower_bound(known->names, key);
            const std::string inner_path = path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
            if (at == known->names.end() || *at != key) {
                // Of a schema that still moves, only what looks like a slip is told.
                if (shape.starts_with('~') && nearest_name(key, known->names).empty()) continue;
                report_(inner_path, "unknown field" + suggested(key, known->names), where);
                continue;
            }
            const std::string_view inner = known->inner[static_cast<std::size_t>(at - known->names.begin())];
            if (!inner.empty()) look(field.value(), inner, inner_path);
        }
    }

    static std::string suggested(std::string_view key, std::span<const std::string_view> known) {
        const std::string near = meant_names(key, known);
        return near.empty() ? std::string() : fmt::format(", did you mean {}?", near);
    }

    const KnownFields::Report& report_;
};

}  // namespace

void KnownFields::check(std::string_view json,
                        std::string_view kind,
                        std::string_view api_version,
                        const Report& report) {
    if (json.find("\"resourceVersion\"") != std::string_view::npos) return;
    const std::size_t slash = api_version.find('/');
    const std::string_view group = slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
    const auto* found = std::ranges::find_if(
        kKindShapes, [&](const KindShape& known) { return known.kind == kind && known.group == group; });
    if (found == std::end(kKindShapes)) return;
    static thread_local simdjson::ondemand::parser parser;
    simdjson::ondemand::document document;
    simdjson::ondemand::value root;
    auto code = parser.iterate(json.data(), json.size(), json.size() + simdjson::SIMDJSON_PADDING).get(document);
    if (code == simdjson::SUCCESS) code = document.get_value().get(root);
    if (code == simdjson::SUCCESS) FieldWalk(report).look(root, found->shape, "");
}

}  // namespace reprieve
