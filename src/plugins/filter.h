// Filters: may this pod run on this node? Same names and verdicts as kube-scheduler's, plus Devices.
//
// A filter is a pure function of facts and one view (now or later). Those that only look at facts come first and are
// worked out once per class of pods and node; the others are asked again whenever a node is touched. An Answer is a
// few bytes; its sentence is made only when somebody reads it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/verdict.h"
#include "state/snapshot.h"

namespace reprieve {

class PromisedCounts;
class SpreadBook;

enum class FilterId : std::uint8_t {
    kNodeName,
    kNodeUnschedulable,
    kTaintToleration,
    kNodeAffinity,
    kVolumeBinding,
    kVolumeZone,
    kNodePorts,
    kNodeResourcesFit,
    kVolumeRestrictions,
    kNodeVolumeLimits,
    kPodTopologySpread,
    kInterPodAffinity,
    kDevices,
    kDynamicResources,
    kNone
};
inline constexpr int kFilterCount = static_cast<int>(FilterId::kNone);
inline constexpr int kFactFilterCount = static_cast<int>(FilterId::kNodePorts);  // those before it look at facts only

// Details of the filter Devices: a dialect that the node is not registered in, or this.
inline constexpr std::uint32_t kNoDeviceMemory = 255;

struct Answer {
    Fit fit = Fit::kFits;
    FilterId filter = FilterId::kNone;
    std::uint32_t detail = 0;  // the filter's own: a dimension, the id of a string, a kind of failure

    [[nodiscard]] bool fits() const { return fit == Fit::kFits; }
    // False: the work allowed was not enough to try every combination of devices. Such a "not now" proves nothing.
    [[nodiscard]] bool certain() const;
    friend auto operator<=>(const Answer&, const Answer&) = default;
};

// The pod in question, with what is known of its kind.
struct Candidate {
    const Snapshot& snapshot;
    PodId pod;
    const PodClass& cls;
    const PodSpec& spec;

    Candidate(const Snapshot& s, PodId p) : snapshot(s), pod(p), cls(s.class_of(p)), spec(s.spec_of(p)) {}
};

// By facts only.
[[nodiscard]] Answer filter_node_name(const Candidate& candidate, NodeId node);
[[nodiscard]] Answer filter_node_unschedulable(const Candidate& candidate, NodeId node);
[[nodiscard]] Answer filter_taint_toleration(const Candidate& candidate, NodeId node);
[[nodiscard]] Answer filter_node_affinity(const Candidate& candidate, NodeId node);
[[nodiscard]] Answer filter_volume_binding(const Candidate& candidate, NodeId node);
[[nodiscard]] Answer filter_volume_zone(const Candidate& candidate, NodeId node);
// By what is there.
[[nodiscard]] Answer filter_node_ports(const Candidate& candidate, const Occupancy& view, NodeId node);
[[nodiscard]] Answer filter_node_resources_fit(const Candidate& candidate, const Occupancy& view, NodeId node);
[[nodiscard]] Answer filter_volume_restrictions(const Candidate& candidate, const Occupancy& view, NodeId node);
[[nodiscard]] Answer filter_node_volume_limits(const Candidate& candidate, const Occupancy& view, NodeId node);
// VolumeBinding once more, without the volumes that this plan has promised to others.
[[nodiscard]] Answer filter_promised_volumes(const Candidate& candidate, const Occupancy& later, NodeId node);
[[nodiscard]] Answer filter_pod_topology_spread(const Candidate& candidate,
                                                const Occupancy& later,
                                                SpreadBook& book,
                                                NodeId node);
// InterPodAffinity in two parts: what evictions can break, and what they can only help.
[[nodiscard]] Answer filter_pod_affinity(const Candidate& candidate, const Occupancy& view, NodeId node);
// The first part once more, where nominated pods are no company.
[[nodiscard]] bool affinity_without_nominated(const Candidate& candidate,
                                              const Occupancy& later,
                                              const PromisedCounts& promised,
                                              NodeId node);
[[nodiscard]] Answer filter_pod_anti_affinity(const Candidate& candidate, const Occupancy& view, NodeId node);
[[nodiscard]] Answer filter_devices(const Candidate& candidate,
                                    const Occupancy& view,
                                    const Occupancy& later,
                                    NodeId node);

[[nodiscard]] Answer filter_dynamic_resources(const Candidate& candidate,
                                              const Occupancy& view,
                                              const Occupancy& later,
                                              NodeId node);

// The sentence behind an answer on this node. Claims are explained per node; for all else the node does not matter.
[[nodiscard]] std::string describe_on(const Answer& answer, const Candidate& candidate, NodeId node);
// Claims that hold devices this pod could use and that no eviction frees, or only together with others; empty: none.
[[nodiscard]] std::string describe_blocking_claims(const Candidate& candidate);

// The sentence behind an answer, the same for every node where the same thing is wrong.
[[nodiscard]] std::string describe(const Answer& answer, const Candidate& candidate);
[[nodiscard]] std::string describe_resources_fit(std::uint32_t detail, const Candidate& candidate);
[[nodiscard]] std::string describe_volumes(FilterId filter, std::uint32_t detail);

// Used by more than one filter: whether a pod tolerates the taints of a node, with PreferNoSchedule ones counted apart.
[[nodiscard]] bool tolerates(const PodSpec& spec, const Taint& taint);
[[nodiscard]] bool matches_node(const PodSpec& spec, const Node& node, const Vocabulary& words);

}  // namespace reprieve
