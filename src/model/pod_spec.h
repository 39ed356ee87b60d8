// PodSpec: all that decides where a pod may run, apart from its name, labels and priority.
//
// Pods of one template share one PodSpec (Vocabulary interns it): verdicts are worked out once per shape, and
// 150,000 pods cost 150,000 small rows. Lists are in canonical order, so equal shapes compare equal.
#pragma once

#include <cstdint>
#include <vector>

#include "base/id.h"
#include "model/device_dialect.h"
#include "model/labels.h"
#include "model/resources.h"

namespace reprieve {

using SpecId = Id<struct SpecTag>;

enum class TaintEffect : std::uint8_t { kAny, kNoSchedule, kPreferNoSchedule, kNoExecute };

struct Toleration {
    StringId key;  // none: every key (with Exists)
    bool exists = false;
    StringId value;
    TaintEffect effect = TaintEffect::kAny;
    friend auto operator<=>(const Toleration&, const Toleration&) = default;
};

struct PreferredNodeTerm {
    std::int32_t weight = 0;
    NodeSelectorTerm term;
    friend auto operator<=>(const PreferredNodeTerm&, const PreferredNodeTerm&) = default;
};

// The pods it speaks of: those matching `selector` in the listed namespaces or in namespaces matching
// `namespace_selector` (decoding fills in the pod's own namespace where neither is written, and merges
// matchLabelKeys / mismatchLabelKeys into the selector).
struct PodAffinityTerm {
    StringId topology_key;
    LabelSelector selector;
    std::vector<StringId> namespaces;  // sorted by id
    LabelSelector namespace_selector;  // null: not used; empty: every namespace
    friend auto operator<=>(const PodAffinityTerm&, const PodAffinityTerm&) = default;
};

struct PreferredPodTerm {
    std::int32_t weight = 0;  // negative for anti-affinity
    PodAffinityTerm term;
    friend auto operator<=>(const PreferredPodTerm&, const PreferredPodTerm&) = default;
};

struct SpreadConstraint {
    StringId topology_key;
    LabelSelector selector;  // matchLabelKeys merged in
    std::int32_t max_skew = 1;
    std::int32_t min_domains = 1;
    bool hard = true;                 // DoNotSchedule
    bool honor_node_affinity = true;  // nodeAffinityPolicy
    bool honor_taints = false;        // nodeTaintsPolicy
    friend auto operator<=>(const SpreadConstraint&, const SpreadConstraint&) = default;
};

enum class Protocol : std::uint8_t { kTcp, kUdp, kSctp };

struct HostPort {
    StringId ip;  // none: every address ("", "0.0.0.0", "::")
    Protocol protocol = Protocol::kTcp;
    std::uint16_t port = 0;
    friend auto operator<=>(const HostPort&, const HostPort&) = default;
};

enum class VolumeKind : std::uint8_t { kClaim, kGcePersistentDisk, kAwsElasticBlockStore, kRbd, kIscsi, kCsiInline };

struct VolumeUse {
    VolumeKind kind = VolumeKind::kClaim;
    StringId id;  // claim name (generic ephemeral volumes: "<pod>-<volume>"), disk name, volume id, image, target or
                  // CSI driver
    bool read_only = false;
    friend auto operator<=>(const VolumeUse&, const VolumeUse&) = default;
};

enum class DevicePolicy : std::uint8_t { kBinpack, kSpread };

// What a pod asks of the devices of its node. Whole devices and a share exclude each other.
struct DeviceAsk {
    Dim whole_dim{};                      // nvidia.com/gpu (or another device resource); none: no whole devices
    std::int32_t whole = 0;               // number of whole devices
    std::int32_t shares = 0;              // number of devices to take a share of (vgpu-number; else 1)
    std::int64_t share_memory = 0;        // bytes of each
    std::int64_t share_milli = 0;         // milli-GPU of each
    std::int32_t share_memory_milli = 0;  // thousandths of each device's memory (koordinator.sh/gpu-memory-ratio)
    DeviceDialect dialect = DeviceDialect::kPlain;  // others: only devices that the node registers in it will do
    bool same_group = false;
    DevicePolicy policy = DevicePolicy::kBinpack;
    friend auto operator<=>(const DeviceAsk&, const DeviceAsk&) = default;

    [[nodiscard]] bool any() const { return whole > 0 || shares > 0; }
};

// An entry of spec.resourceClaims: a claim by name, or one that a template makes for each pod.
struct ClaimEntry {
    StringId name;
    StringId claim;
    StringId from_template;
    friend auto operator<=>(const ClaimEntry&, const ClaimEntry&) = default;
};

// What a pod's claim would ask for where a DeviceClass stands behind an extended resource.
struct ExtendedAsk {
    Dim resource;
    StringId request;  // container-<i>-request-<j>
    std::int64_t count = 0;
    friend auto operator<=>(const ExtendedAsk&, const ExtendedAsk&) = default;
};

struct PodSpec {
    Resources requests;          // with overhead and `pods: 1`; shares of devices are not in here
    std::int64_t score_cpu = 0;  // requests as scores see them: containers without a request count 100m / 200 MB
    std::int64_t score_memory = 0;
    std::vector<NodeSelectorTerm> node_terms;  // required node affinity: one of them; empty: no condition
    std::vector<Requirement> node_selector;    // spec.nodeSelector: all of them
    bool node_affinity_required = false;       // required affinity was written (with no terms it matches nothing)
    std::vector<PreferredNodeTerm> preferred_nodes;
    std::vector<Toleration> tolerations;
    std::vector<PodAffinityTerm> affinity;
    std::vector<PodAffinityTerm> anti_affinity;
    std::vector<PreferredPodTerm> preferred_pods;
    std::vector<SpreadConstraint> spread;
    std::vector<HostPort> ports;
    std::vector<VolumeUse> volumes;
    std::vector<StringId> images;
    DeviceAsk devices;
    std::vector<ClaimEntry> claims;     // in the order written, which is the order of allocation
    std::vector<ExtendedAsk> extended;  // sorted by request name
    StringId scheduler;
    StringId host;  // spec.nodeName while the pod is not yet bound is the NodeName filter's business; none otherwise
    friend bool operator==(const PodSpec&, const PodSpec&) = default;

    [[nodiscard]] std::uint64_t hash() const;
};

}  // namespace reprieve
