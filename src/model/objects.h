// The other objects that decisions depend on, as values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "model/device_claims.h"
#include "model/labels.h"
#include "model/node.h"
#include "model/pod.h"
#include "model/resources.h"

namespace reprieve {

// reprieve.dev/* settings that may stand on several kinds; the nearest one wins: pod, gang, queue, class.
struct Settings {
    std::optional<bool> preemptible;
    std::string preemptible_marker;
    std::optional<Duration> min_runtime;
    std::optional<Duration> restart_cost;
    friend bool operator==(const Settings&, const Settings&) = default;
};

struct PriorityClass {
    StringId name;
    std::int32_t value = 0;
    bool global_default = false;
    std::optional<PreemptionPolicy> preemption_policy;
    Settings settings;
    std::optional<std::int32_t> minimum_preemptable_priority;  // preemption-toleration.scheduling.x-k8s.io/...
    std::optional<std::int64_t> toleration_seconds;
    friend bool operator==(const PriorityClass&, const PriorityClass&) = default;
};

struct Namespace {
    StringId name;
    Labels labels;
    friend bool operator==(const Namespace&, const Namespace&) = default;
};

// Which dialect a group was written in; status and events are written back in the same one.
enum class GangDialect : std::uint8_t { kCore, kVolcano, kSchedulerPlugins, kKoordinator, kLabel };

// How a group may be disrupted when attacked.
enum class DisruptionMode : std::uint8_t {
    kSurplusThenWhole,  // Volcano and others: surplus pods one by one, else the gang whole
    kSingle,            // core `single`
    kAll                // core `all`
};

struct TopologyRule {
    bool hard = true;
    std::optional<std::int32_t> highest_tier;  // HyperNode tier allowed
    StringId highest_tier_name;
    StringId label_key;  // core schedulingConstraints.topology[].key
    friend bool operator==(const TopologyRule&, const TopologyRule&) = default;
};

struct SubGroupPolicy {
    StringId name;
    LabelSelector selector;
    std::vector<StringId> match_label_keys;
    std::int32_t size = 0;            // subGroupSize; 0: not written
    std::int32_t min_sub_groups = 0;  // minSubGroups
    std::optional<TopologyRule> topology;
    friend bool operator==(const SubGroupPolicy&, const SubGroupPolicy&) = default;
};

struct Gang {
    StringId ns;
    StringId name;
    std::string uid;
    GangDialect dialect = GangDialect::kVolcano;
    std::int32_t min_members = 0;                                  // 0: a set of single pods (policy basic)
    std::vector<std::pair<StringId, std::int32_t>> role_minimums;  // sorted by role id
    std::vector<SubGroupPolicy> sub_groups;
    std::optional<TopologyRule> topology;
    StringId queue;
    StringId priority_class;
    std::optional<std::int32_t> priority;
    std::optional<PreemptionPolicy> preemption_policy;
    DisruptionMode disruption = DisruptionMode::kSurplusThenWhole;
    std::optional<Resources> min_resources;
    StringId parent;               // CompositePodGroup
    std::vector<StringId> peers;   // "ns/name" of gangs that start only together (koordinator groups), itself left out
    std::optional<PlanNote> plan;  // reprieve.dev/plan
    Settings settings;
    Time created;
    std::string hold;  // why no member is to be placed; a sentence
    friend bool operator==(const Gang&, const Gang&) = default;
};

// scheduling.k8s.io/v1alpha3 CompositePodGroup.
struct CompositeGroup {
    StringId ns;
    StringId name;
    StringId parent;
    std::int32_t min_groups = 0;  // 0: basic
    DisruptionMode disruption = DisruptionMode::kSingle;
    StringId priority_class;
    std::optional<std::int32_t> priority;
    std::optional<PreemptionPolicy> preemption_policy;
    std::optional<TopologyRule> topology;
    friend bool operator==(const CompositeGroup&, const CompositeGroup&) = default;
};

// Volcano's Queue and Koordinator's ElasticQuota: two spellings of one tree.
struct Queue {
    StringId name;
    StringId ns;             // ElasticQuota only
    bool is_quota = false;   // ElasticQuota
    StringId parent;         // none: the root's child
    bool is_parent = false;  // label is-parent (ElasticQuota)
    StringId tree;           // label tree-id
    std::int64_t weight = 1;
    std::int32_t priority = 0;
    bool open = true;
    bool reclaimable = true;
    std::optional<Resources> deserved;
    Resources guarantee;  // guarantee = min
    Resources limit;      // capability = max; a dimension not listed is unlimited
    std::optional<Resources> shared_weight;
    bool lends = true;
    bool min_scales = true;
    std::optional<Resources> tree_total;  // annotation total-resource: what the tree below it shares
    std::vector<StringId> namespaces;     // annotation quota.scheduling.koordinator.sh/namespaces
    std::optional<Resources> allocated;   // reprieve.dev/allocated, else status.allocated
    std::optional<Resources> request;     // reprieve.dev/request
    Time over_since;                      // reprieve.dev/over-since
    Settings settings;
    friend bool operator==(const Queue&, const Queue&) = default;
};

struct HyperNodeMember {
    bool is_node = true;  // else a HyperNode
    enum class Match : std::uint8_t { kExact, kRegex, kLabels } match = Match::kExact;
    std::string text;  // name or regular expression
    LabelSelector selector;
    friend bool operator==(const HyperNodeMember&, const HyperNodeMember&) = default;
};

struct HyperNode {
    StringId name;
    std::int32_t tier = 0;
    StringId tier_name;
    std::vector<HyperNodeMember> members;
    friend bool operator==(const HyperNode&, const HyperNode&) = default;
};

// An int or a percentage, as in minAvailable.
struct IntOrPercent {
    std::int64_t value = 0;
    bool percent = false;
    friend bool operator==(const IntOrPercent&, const IntOrPercent&) = default;
};

struct DisruptionBudget {
    StringId ns;
    StringId name;
    LabelSelector selector;
    std::optional<IntOrPercent> min_available;
    std::optional<IntOrPercent> max_unavailable;
    std::optional<std::int64_t> disruptions_allowed;  // status; absent: computed
    std::vector<std::string> disrupted_pods;          // sorted
    friend bool operator==(const DisruptionBudget&, const DisruptionBudget&) = default;
};

enum class WorkloadKind : std::uint8_t {
    kDeployment,
    kReplicaSet,
    kStatefulSet,
    kJob,
    kVolcanoJob,
    kDaemonSet,
    kRevision,
    kKnativeService
};

// A controller of pods.
struct Workload {
    WorkloadKind kind = WorkloadKind::kDeployment;
    StringId ns;
    StringId name;
    std::string uid;
    OwnerRef owner;
    Labels labels;
    LabelSelector selector;
    std::int64_t replicas = 1;  // a Revision's max-scale, a Knative Service's min-scale
    std::optional<std::int64_t> status_replicas;
    std::optional<std::int64_t> updated_replicas;
    std::optional<std::int64_t>
        desired_replicas;        // annotation reprieve.dev/desired-replicas: a serving deployment of its own
    Resources replica_requests;  // of the pod template
    std::optional<std::int32_t> template_priority;
    StringId template_priority_class;
    friend bool operator==(const Workload&, const Workload&) = default;
};

struct ServingPlane {
    StringId name;
    std::int64_t score = 0;
    std::optional<std::int64_t> committed;
    friend bool operator==(const ServingPlane&, const ServingPlane&) = default;
};

struct ServingDeployment {
    StringId ns;
    StringId name;
    std::optional<std::int32_t> priority;
    StringId priority_class;
    std::int64_t replicas = 0;
    std::optional<Resources> resources;
    std::vector<ServingPlane> planes;
    friend bool operator==(const ServingDeployment&, const ServingDeployment&) = default;
};

enum class AccessMode : std::uint8_t { kReadWriteOnce, kReadOnlyMany, kReadWriteMany, kReadWriteOncePod };

struct PersistentVolume {
    StringId name;
    StringId storage_class;
    Labels labels;
    std::int64_t capacity = 0;
    std::vector<AccessMode> modes;
    bool filesystem = true;  // volumeMode
    std::vector<NodeSelectorTerm> node_terms;
    bool node_affinity_required = false;
    StringId claim_ns;
    StringId claim_name;
    bool available = true;  // phase Available, or not written
    bool deleting = false;
    StringId csi_driver;
    StringId csi_handle;
    friend bool operator==(const PersistentVolume&, const PersistentVolume&) = default;
};

struct VolumeClaim {
    StringId ns;
    StringId name;
    StringId storage_class;
    bool storage_class_written = false;  // "" and absent differ
    StringId volume;                     // spec.volumeName
    std::int64_t request = 0;
    std::vector<AccessMode> modes;
    bool filesystem = true;
    LabelSelector selector;
    StringId selected_node;  // annotation volume.kubernetes.io/selected-node
    bool lost = false;
    bool deleting = false;
    std::string hold;  // why no pod that uses it is to be placed; a sentence
    friend bool operator==(const VolumeClaim&, const VolumeClaim&) = default;
};

struct StorageClass {
    StringId name;
    StringId provisioner;
    bool wait_for_first_consumer = false;
    bool is_default = false;
    std::vector<NodeSelectorTerm> allowed_topologies;
    friend bool operator==(const StorageClass&, const StorageClass&) = default;
};

struct CsiNode {
    StringId name;
    std::vector<std::pair<StringId, std::optional<std::int32_t>>> limits;  // driver -> allocatable.count
    friend bool operator==(const CsiNode&, const CsiNode&) = default;
};

struct CsiDriver {
    StringId name;
    bool tells_capacity = false;  // spec.storageCapacity: it publishes how much it can provision
    friend bool operator==(const CsiDriver&, const CsiDriver&) = default;
};

// How much can be provisioned from one storage class in one part of the cluster.
struct CsiStorageCapacity {
    StringId ns;
    StringId name;
    StringId storage_class;
    LabelSelector nodes;                // nodeTopology; absent: no node has access
    std::optional<std::int64_t> limit;  // of one volume: maximumVolumeSize, else capacity
    friend bool operator==(const CsiStorageCapacity&, const CsiStorageCapacity&) = default;
};

// One decoded object of any kind.
using Object = std::variant<Node,
                            Pod,
                            PriorityClass,
                            Namespace,
                            Gang,
                            CompositeGroup,
                            Queue,
                            HyperNode,
                            DisruptionBudget,
                            Workload,
                            ServingDeployment,
                            PersistentVolume,
                            VolumeClaim,
                            StorageClass,
                            CsiNode,
                            CsiDriver,
                            CsiStorageCapacity,
                            ResourceSlice,
                            DeviceClass,
                            ResourceClaim,
                            ResourceClaimTemplate,
                            DeviceTaintRule>;

}  // namespace reprieve
