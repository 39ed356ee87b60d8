// Case: one plan under judgement, with the names it uses looked up in the facts.
//
// Entries that name nothing (or what cannot be placed or evicted) are left out here; judge_form complains about them.
// Lives as long as one audit; pointers into `placed` and the plan stay valid that long.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "audit/standings.h"
#include "model/config.h"
#include "model/plan.h"
#include "state/cluster.h"

namespace reprieve {

class BudgetIndex;

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
    ~Case();

    const Cluster& cluster;
    const Plan& plan;
    const SchedulerConfig& config;
    const Snapshot& snapshot;
    const Vocabulary& words;
    const Standings standings;
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
    [[nodiscard]] bool has_succeeded(PodId pod) const { return exists(pod) && fact(pod).phase == PodPhase::kSucceeded; }
    // Terminating, or asked to go by a soft eviction.
    [[nodiscard]] bool leaves(PodId pod) const;
    // A quota counts the pod as non-preemptible.
    [[nodiscard]] bool is_fixed(PodId pod) const;
    // Waits for a place, whoever's it is.
    [[nodiscard]] bool waits(PodId pod) const;
    [[nodiscard]] bool resizes(PodId pod) const { return runs(pod) && fact(pod).more().resize_held.has_value(); }
    [[nodiscard]] const EvictedPod* eviction_of(PodId pod) const;
    // Whom the plan evicts of a gang, and of all gangs that go as one with it.
    [[nodiscard]] const std::vector<const EvictedPod*>& evicted_of(GangId gang) const;
    [[nodiscard]] std::vector<const EvictedPod*> evicted_with(GangId gang) const;
    // The queue and those above it, itself first.
    [[nodiscard]] const std::vector<QueueId>& path(QueueId queue) const { return standings.path(queue); }
    [[nodiscard]] bool is_below(QueueId queue, QueueId level) const;
    [[nodiscard]] std::int32_t minimum(GangId gang) const { return standings.minimum(gang); }
    // What the plan tells of a queue; null: nothing.
    [[nodiscard]] const QueueReport* told(QueueId queue) const;
    [[nodiscard]] const BudgetIndex& budgets() const;
    // What all nodes offer together.
    [[nodiscard]] const Resources& offered() const;
    // Pods that name this claim.
    [[nodiscard]] const std::vector<PodId>& users_of(StringId ns, StringId claim) const;

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
    // What the plan places for an owner (and for the gangs that start only together with it), nothing in flight.
    [[nodiscard]] const std::vector<const PlacedPod*>& placements_for(const std::string& name) const;
    // The gang and those that start only together with it.
    [[nodiscard]] std::vector<GangId> together(GangId gang) const;
    // The gang that has a minimum and that the pod belongs to, if any.
    [[nodiscard]] GangId gang_with_minimum(PodId pod) const;

private:
    void look_up_placements();
    void look_up_evictions();
    // It waits where an earlier plan nominated it.
    [[nodiscard]] bool keeps_promise(const PlacedPod& item) const;
    [[nodiscard]] bool is_in_flight(const PlacedPod& item) const;
    [[nodiscard]] std::vector<const PlacedPod*> find_placements(const std::string& name) const;

    StringId fixed_mark_;
    bool fixed_by_default_ = false;
    std::set<std::string_view> cleared_;    // nominations
    std::set<std::string_view> attackers_;  // for whom somebody is evicted
    std::map<StringId, const QueueReport*> told_;
    std::map<std::string, GangId, std::less<>> gangs_by_name_;
    std::map<PodId, std::size_t> evicted_index_;
    std::map<GangId, std::vector<const EvictedPod*>> evicted_by_gang_;
    std::map<std::string, std::vector<std::size_t>, std::less<>>
        placed_by_name_;  // of the pod, or of whom it is placed for
    std::map<GangId, std::vector<std::size_t>> placed_by_gang_;
    // Filled when first asked for.
    mutable std::map<std::string, std::vector<const PlacedPod*>, std::less<>> placements_;
    mutable std::unique_ptr<BudgetIndex> budgets_;
    mutable std::optional<Resources> offered_;
    mutable std::optional<std::map<std::pair<StringId, StringId>, std::vector<PodId>>> claim_users_;
};

// Actions that evict to place a demand, as opposed to those that balance the whole cluster.
[[nodiscard]] bool serves_a_demand(ActionKind kind);

// What the pod would hold of that device. A share in bytes of a device whose memory is unknown is more than it has.
[[nodiscard]] DeviceHold hold_on(std::span<const Device> devices, std::int32_t index, const DeviceAsk& ask);

// "0" or "1:4Gi" or "0:500m"; none if malformed.
[[nodiscard]] std::optional<std::int32_t> device_index(std::string_view text);

}  // namespace reprieve
