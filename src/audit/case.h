// Case: one plan under judgement, with the names it uses looked up in the facts.
//
// Entries that name nothing (or what cannot be placed or evicted) are left out here; judge_form complains about them.
// Lives as long as one audit; pointers into `placed` and the plan stay valid that long.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/config.h"
#include "model/plan.h"
#include "state/cluster.h"

namespace reprieve {

struct PlacedPod {
    const Placement* entry = nullptr;
    PodId pod;
    NodeId node;
    std::vector<DeviceHold> holds;  // the devices the plan names, with the amounts the pod asks for
    bool in_flight = false;         // nominated by an earlier plan whose victims still terminate: not this plan's doing

    [[nodiscard]] const std::string& owner() const { return entry->owner.empty() ? entry->pod : entry->owner; }
};

struct EvictedPod {
    const Eviction* entry = nullptr;
    PodId pod;
    std::optional<ActionKind> action;  // none: no such action
};

// Whom an eviction was made for; neither: nobody we know.
struct Owner {
    PodId pod;
    GangId gang;
    [[nodiscard]] bool known() const { return pod.valid() || gang.valid(); }
};

struct Case {
    Case(const Cluster& facts, const Plan& judged, const SchedulerConfig& chosen);
    Case(const Case&) = delete;
    Case& operator=(const Case&) = delete;

    const Cluster& cluster;
    const Plan& plan;
    const SchedulerConfig& config;
    const Snapshot& snapshot;
    const Vocabulary& words;
    std::vector<ActionConfig> actions;
    bool has_quotas = false;
    std::vector<PlacedPod> placed;
    std::vector<EvictedPod> evicted;

    [[nodiscard]] PodId find_pod(std::string_view full_name) const;
    [[nodiscard]] const Pod& fact(PodId pod) const { return cluster.pod(pod); }
    [[nodiscard]] const PodRow& row(PodId pod) const { return snapshot.pods[pod]; }
    [[nodiscard]] const PodSpec& spec(PodId pod) const { return words.spec(fact(pod).spec); }
    [[nodiscard]] const Labels& labels(PodId pod) const { return words.labels(fact(pod).labels); }
    [[nodiscard]] std::string name(PodId pod) const { return snapshot.pod_name(pod); }

    [[nodiscard]] bool exists(PodId pod) const { return fact(pod).ns.valid(); }
    // Bound and not finished; it may be terminating.
    [[nodiscard]] bool bound(PodId pod) const;
    [[nodiscard]] bool runs(PodId pod) const { return bound(pod) && !fact(pod).terminating(); }
    // Terminating, or asked to go by a soft eviction.
    [[nodiscard]] bool leaves(PodId pod) const;
    // A quota counts the pod as non-preemptible.
    [[nodiscard]] bool is_fixed(PodId pod) const;
    // Waits for a place, whoever's it is.
    [[nodiscard]] bool waits(PodId pod) const;
    [[nodiscard]] bool resizes(PodId pod) const { return runs(pod) && fact(pod).more().resize_held.has_value(); }
    [[nodiscard]] const EvictedPod* eviction_of(PodId pod) const;

    // Filters obey `only` and `disable`, other plugins `disable` alone.
    [[nodiscard]] bool filters_by(std::string_view filter) const;
    [[nodiscard]] bool enabled(std::string_view plugin) const;
    [[nodiscard]] std::optional<ActionKind> action(std::string_view name) const;
    // Whether some configured action of this kind satisfies `property`.
    template <class Property>
    [[nodiscard]] bool configured(ActionKind kind, Property property) const {
        for (const ActionConfig& item : actions) {
            if (item.kind == kind && property(item)) return true;
        }
        return false;
    }

    [[nodiscard]] Owner owner(const std::string& name) const;
    // The priority with which an owner attacks.
    [[nodiscard]] std::int32_t standing(const Owner& owner) const;
    [[nodiscard]] std::int32_t standing(PodId pod) const;
    // What the plan places for an owner (and for the gangs that start only together with it), nothing in flight.
    [[nodiscard]] std::vector<const PlacedPod*> placements_for(const std::string& name) const;
    // All nodes with this value of a label, in order of their ids.
    [[nodiscard]] const std::vector<NodeId>& domain(StringId key, StringId value) const;
    // The gang and those that start only together with it.
    [[nodiscard]] std::vector<GangId> together(GangId gang) const;
    // The gang that has a minimum and that the pod belongs to, if any.
    [[nodiscard]] GangId gang_with_minimum(PodId pod) const;

private:
    void look_up_placements();
    void look_up_evictions();
    [[nodiscard]] bool is_in_flight(const PlacedPod& item) const;

    std::map<std::string, GangId, std::less<>> gangs_by_name_;
    std::map<PodId, std::size_t> evicted_index_;
    std::map<std::string, std::vector<std::size_t>, std::less<>>
        placed_by_name_;  // of the pod, or of whom it is placed for
    std::map<GangId, std::vector<std::size_t>> placed_by_gang_;
    mutable std::map<StringId, std::map<StringId, std::vector<NodeId>>> domains_;  // filled when first asked for
};

// Actions that evict to place a demand, as opposed to those that balance the whole cluster.
[[nodiscard]] bool serves_a_demand(ActionKind kind);

// What the pod would hold of that device. A share in bytes of a device whose memory is unknown is more than it has.
[[nodiscard]] DeviceHold hold_on(std::span<const Device> devices, std::int32_t index, const DeviceAsk& ask);

// "0" or "1:4Gi" or "0:500m"; none if malformed.
[[nodiscard]] std::optional<std::int32_t> device_index(std::string_view text);

}  // namespace reprieve
