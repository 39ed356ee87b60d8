// Scene: who is where in one of the two states that a plan is judged in.
//
// Pods can be put in and taken out again, to ask what would be if a victim had stayed. A pod bound to a node that does
// not exist sits nowhere: it counts for queues and gangs only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "audit/case.h"

namespace reprieve {

enum class View : std::uint8_t { kNow, kLater };

struct Seat {
    PodId pod;                          // none: the pod is not here
    NodeId node;                        // none: bound to a node that does not exist
    const PlacedPod* placed = nullptr;  // null: it was there before the plan
    bool grown = false;                 // its deferred resize is granted
};

// Pods in one topology domain that a spread constraint counts.
struct SpreadTally {
    std::int64_t settled = 0;           // there before the plan
    std::int64_t placed_alike = 0;      // by the plan, with the same constraint
    std::int64_t placed_otherwise = 0;  // by the plan, without it
    std::int64_t evicted = 0;
    std::map<std::string, std::int64_t> placed_for;
    std::map<std::string, std::int64_t> evicted_for;
};
using SpreadTallies = std::map<StringId, SpreadTally>;

class Scene {
public:
    Scene(const Case& judged, View view);

    void add(Seat seat);
    void remove(PodId pod);
    void put_back(PodId victim);  // where it runs
    void grow(PodId resizing);

    [[nodiscard]] const Case& judged() const { return *case_; }
    [[nodiscard]] View view() const { return view_; }
    [[nodiscard]] bool has(PodId pod) const { return seats_[pod].pod.valid(); }
    [[nodiscard]] const Seat& seat(PodId pod) const { return seats_[pod]; }
    [[nodiscard]] const std::vector<PodId>& on(NodeId node) const { return by_node_[node]; }
    template <class Visit>
    void each(Visit visit) const {
        for (const Seat& seat : seats_) {
            if (seat.pod) visit(seat);
        }
    }
    // Labels of nodes by which pods here require others to stay away, and how many terms do so.
    [[nodiscard]] const std::map<StringId, int>& repelling() const { return repelling_; }

    // Tallies by namespace, shape of pod and number of the constraint, remembered until somebody moves.
    using SpreadKey = std::tuple<StringId, SpecId, std::size_t>;
    [[nodiscard]] std::map<SpreadKey, SpreadTallies>& spread_memo() const { return spread_memo_; }

    [[nodiscard]] std::int64_t amount(const Seat& seat, Dim dim) const;
    [[nodiscard]] std::int64_t used(NodeId node, Dim dim) const;
    // Of the queue and all below it.
    [[nodiscard]] std::int64_t used(QueueId queue, Dim dim) const { return by_queue_[queue].get(dim); }
    // Of that, by pods that quotas count as non-preemptible.
    [[nodiscard]] std::int64_t fixed(QueueId queue, Dim dim) const { return fixed_by_queue_[queue].get(dim); }
    [[nodiscard]] const std::vector<DeviceHold>& holds(const Seat& seat) const;

private:
    void count_queue(const Seat& seat, int sign);
    void count_terms(const Seat& seat, int sign);

    const Case* case_;
    View view_;
    IdVector<PodId, Seat> seats_;
    IdVector<NodeId, std::vector<PodId>> by_node_;
    IdVector<QueueId, Resources> by_queue_;
    IdVector<QueueId, Resources> fixed_by_queue_;
    std::map<StringId, int> repelling_;
    mutable std::map<SpreadKey, SpreadTallies> spread_memo_;
};

}  // namespace reprieve
