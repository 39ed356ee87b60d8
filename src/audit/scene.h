// Scene: who is where in one of the two states that a plan is judged in.
//
// Pods can be put in and taken out again, to ask what would be if a victim had stayed. A pod bound to a node that does
// not exist sits nowhere: it counts for queues and gangs only.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "audit/case.h"
#include "audit/neighbours.h"

namespace reprieve {

enum class Moment : std::uint8_t { kNow, kLater };

struct Seat {
    PodId pod;                          // none: the pod is not here
    NodeId node;                        // none: bound to a node that does not exist
    const PlacedPod* placed = nullptr;  // null: it was there before the plan
    bool grown = false;                 // its deferred resize is granted
};

class Scene {
public:
    Scene(const Case& judged, Moment view);
    Scene(Scene&&) = default;

    void add(Seat seat);
    void remove(PodId pod);
    void put_back(PodId victim);  // where it runs
    void grow(PodId resizing);

    [[nodiscard]] const Case& judged() const { return *case_; }
    [[nodiscard]] Moment view() const { return view_; }
    [[nodiscard]] bool has(PodId pod) const { return seats_[pod].pod.valid(); }
    [[nodiscard]] const Seat& seat(PodId pod) const { return seats_[pod]; }
    [[nodiscard]] const std::vector<PodId>& on(NodeId node) const { return by_node_[node]; }
    template <class Visit>
    void each(Visit visit) const {
        for (const Seat& seat : seats_) {
            if (seat.pod) visit(seat);
        }
    }
    // Who stands where, for rules that look beyond a node. What it remembers is no part of the scene.
    [[nodiscard]] Neighbours& neighbours() const { return *neighbours_; }
    // How many members of the gang are here.
    [[nodiscard]] std::int64_t members(GangId gang) const { return members_[gang]; }

    [[nodiscard]] std::int64_t amount(const Seat& seat, Dim dim) const;
    [[nodiscard]] std::int64_t used(NodeId node, Dim dim) const;
    // Of the queue and all below it.
    [[nodiscard]] std::int64_t used(QueueId queue, Dim dim) const { return by_queue_[queue].get(dim); }
    // Of that, by pods that quotas count as non-preemptible.
    [[nodiscard]] std::int64_t fixed(QueueId queue, Dim dim) const { return fixed_by_queue_[queue].get(dim); }
    // Of all that, by pods that the plan places.
    [[nodiscard]] std::int64_t placed(QueueId queue, Dim dim) const { return placed_by_queue_[queue].get(dim); }
    // What non-preemptible pods of a quota that wait without a place ask for.
    [[nodiscard]] std::int64_t waiting(QueueId quota, Dim dim) const { return waiting_by_queue_[quota].get(dim); }

private:
    void count_queue(const Seat& seat, int sign);
    void count_waiting(PodId pod, int sign);

    const Case* case_;
    Moment view_;
    IdVector<PodId, Seat> seats_;
    IdVector<NodeId, std::vector<PodId>> by_node_;
    IdVector<QueueId, Resources> by_queue_;
    IdVector<QueueId, Resources> fixed_by_queue_;
    IdVector<QueueId, Resources> placed_by_queue_;
    IdVector<QueueId, Resources> waiting_by_queue_;
    IdVector<GangId, std::int64_t> members_;
    std::unique_ptr<Neighbours> neighbours_;
};

}  // namespace reprieve
