// Snapshot: one cycle's dense view of the Cluster.
//
// Tables are indexed by the ids of their facts. Everything that depends on which pod is where is kept twice, as `now`
// and `later` (see Occupancy); only Cluster (by facts) and Transaction (tentatively, with exact rollback) change it.
// Rows say what was worked out from several facts: a pod's priority, its gang, its queue, its traits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/objects.h"
#include "model/vocabulary.h"
#include "state/claim_table.h"
#include "state/domains.h"
#include "state/ids.h"
#include "state/occupancy.h"
#include "state/pod_class.h"
#include "state/terms.h"

namespace reprieve {

class Cluster;

enum class PodState : std::uint8_t {
    kAbsent,       // an unused row
    kIgnored,      // finished, gated, or otherwise invisible
    kPending,      // waits for a place
    kRunning,      // holds its room, now and later
    kTerminating,  // holds its room now, not later
    kEvicted,      // tentatively: was running
    kPlaced,       // tentatively: bound now
    kNominated     // holds its room later
};

// Facts about a pod that rules ask for, worked out when it arrives.
enum PodTrait : std::uint16_t {
    kCriticalClass = 1U << 0U,  // system-cluster-critical, system-node-critical
    kKubeSystem = 1U << 1U,
    kMirror = 1U << 2U,
    kDaemon = 1U << 3U,
    kMarked = 1U << 4U,         // marked not preemptible on pod, gang, queue or class
    kForeign = 1U << 5U,        // another scheduler's
    kNeverPreempts = 1U << 6U,  // preemptionPolicy Never on pod, class or group
    kServing = 1U << 7U,        // a replica of a serving deployment
    kQueueMissing = 1U << 8U,   // names a queue that does not exist
    kResizing = 1U << 9U,       // an in-place resize is deferred
    kFinished = 1U << 10U,
    kTolerates = 1U << 11U,     // its PriorityClass sets a preemption toleration
    kGroupMissing = 1U << 12U,  // names a group that does not exist
    kHeld = 1U << 13U           // not to be placed, whatever room there is: Cluster::hold_of says why
};

struct PodRow {
    ClassId cls;
    NodeId node;
    GangId gang;
    QueueId queue;
    std::int32_t priority = 0;       // its own
    std::int32_t unit_priority = 0;  // as a victim: its gang's, its own without one
    std::uint16_t traits = 0;
    PodState state = PodState::kAbsent;
    Time started;  // not set: it has not (see Snapshot::started)
    Time created;
    Duration min_runtime;
    friend bool operator==(const PodRow&, const PodRow&) = default;

    [[nodiscard]] bool has(PodTrait trait) const { return (traits & trait) != 0; }
};

struct NodeRow {
    bool alive = false;
    bool ready = true;
    std::uint32_t rank = 0;  // place in the order of names: the last tie-break
    friend bool operator==(const NodeRow&, const NodeRow&) = default;
};

struct GangRow {
    const Gang* fact = nullptr;  // null: known only from its pods
    StringId ns;
    StringId name;
    bool alive = false;
    bool in_circle = false;   // the chain of its composite groups comes back to itself: it is left out of the tree
    std::int32_t min = 0;     // 0: a set of single pods
    std::vector<PodId> pods;  // sorted by (namespace, name)
    std::int32_t attack_priority = 0;
    std::int32_t defend_priority = 0;
    bool priority_from_group = false;
    bool mixed_priorities = false;  // some member's own priority is not that of the gang as a victim
    bool never_preempts = false;
    CompositeId composite;      // its parent, if any
    CompositeId whole_root;     // the highest ancestor with disruption mode all
    std::vector<GangId> peers;  // start only together
    std::int32_t live = 0;      // members that hold a place later (running, placed, nominated); kept by ops
    std::int32_t done = 0;      // members that have succeeded

    // How many members must start before the gang has its minimum: those that have succeeded count for it.
    [[nodiscard]] std::int32_t lacks() const { return std::max(0, min - live - done); }
    // Attacked as one unit wherever it runs (mode all).
    [[nodiscard]] bool one_unit() const {
        return whole_root.valid() || (fact != nullptr && fact->disruption == DisruptionMode::kAll);
    }
};

struct CompositeRow {
    const CompositeGroup* fact = nullptr;
    CompositeId parent;
    bool in_circle = false;     // it is among its own parents, or below such a group: then it has no parent here
    std::vector<GangId> gangs;  // all below it
};

struct QueueRow {
    const Queue* fact = nullptr;  // null: `default`, which always exists
    StringId name;
    QueueId parent;
    std::vector<QueueId> children;
    bool alive = false;
    bool in_circle = false;  // it is among its own parents, or below such a queue: it takes no pods

    // Open, and not an inner Volcano queue.
    [[nodiscard]] bool takes_pods() const {
        return fact == nullptr || (fact->open && (fact->is_quota || children.empty()));
    }
};

struct BudgetRow {
    const DisruptionBudget* fact = nullptr;
    std::int64_t allowed = 0;  // disruptions left, before this plan
    std::int64_t left = 0;     // after what this plan evicts; kept by ops
    bool alive = false;
};

struct Snapshot {
    const Cluster* facts = nullptr;
    Vocabulary* words = nullptr;
    Time now_time;

    TopologyIndex topology;
    TermTable terms;
    IdVector<ClassId, PodClass> classes;
    IdVector<NodeId, NodeRow> nodes;
    IdVector<NodeId, std::vector<Device>> devices;
    DomainTable domains;
    IdVector<QueueId, QueueRow> queues;
    IdVector<QueueId, std::vector<QueueId>> queue_path;
    IdVector<GangId, GangRow> gangs;
    IdVector<CompositeId, CompositeRow> composites;
    std::size_t claim_count = 0;
    ClaimTable device_claims;
    ClaimBook fixed_claims;  // what no eviction frees
    std::vector<NodeId> nodes_by_name;
    std::size_t dims = 0;

    // What ops change.
    IdVector<PodId, PodRow> pods;
    IdVector<PodId, std::vector<DeviceHold>> holds;
    // Running, terminating, placed, nominated there: those of the facts by name, then those that ops put there.
    IdVector<NodeId, std::vector<PodId>> node_pods;
    IdVector<BudgetId, BudgetRow> budgets;
    Occupancy now;
    Occupancy later;

    [[nodiscard]] Geometry geometry() const {
        return {dims, &topology, &terms, &devices, &domains.of_node, &queue_path};
    }
    [[nodiscard]] const PodSpec& spec_of(PodId pod) const { return words->spec(classes[pods[pod].cls].spec); }
    [[nodiscard]] const PodClass& class_of(PodId pod) const { return classes[pods[pod].cls]; }
    // Who has not started yet starts now at the earliest: it is younger than everybody else, whenever it was bound.
    [[nodiscard]] Time started(PodId pod) const {
        const Time told = pods[pod].started;
        return told.is_set() ? told : now_time;
    }
    [[nodiscard]] std::string pod_name(PodId pod) const;  // "ns/name"
    [[nodiscard]] std::string_view node_name(NodeId node) const;
    [[nodiscard]] std::string gang_name(GangId gang) const;  // "ns/name"
    // Order by (namespace, name): the end of every tie between pods.
    [[nodiscard]] bool name_less(PodId a, PodId b) const;
};

// Whether two snapshots agree in everything that ops change. For tests.
[[nodiscard]] bool same_occupation(const Snapshot& a, const Snapshot& b);

}  // namespace reprieve
