#include "audit/scene.h"

#include <algorithm>

namespace reprieve {
namespace {

// Victims of servingPreempt make room for replicas that the plan does not list: nobody else may count on it.
bool gone_later(const Case& judged, PodId pod) {
    if (judged.leaves(pod)) return true;
    const EvictedPod* eviction = judged.eviction_of(pod);
    return eviction != nullptr && eviction->entry->unit != UnitKind::kReplica;
}

}  // namespace

Scene::Scene(const Case& judged, Moment view)
    : case_(&judged),
      view_(view),
      seats_(judged.cluster.pod_slots()),
      by_node_(judged.snapshot.nodes.size()),
      by_queue_(judged.snapshot.queues.size()),
      fixed_by_queue_(judged.snapshot.queues.size()),
      placed_by_queue_(judged.snapshot.queues.size()),
      waiting_by_queue_(judged.snapshot.queues.size()),
      members_(judged.snapshot.gangs.size()),
      neighbours_(std::make_unique<Neighbours>(judged)) {
    for (const PodId pod : judged.cluster.pending())
        count_waiting(pod, +1);
    for (const PodId pod : IdRange<PodId>(judged.cluster.pod_slots())) {
        if (judged.bound(pod) && (view == Moment::kNow || !gone_later(judged, pod))) put_back(pod);
    }
    for (const PlacedPod& item : judged.placed) {
        if (view == Moment::kLater || !item.entry->after_evictions) add({item.pod, item.node, &item, false});
    }
    if (view == Moment::kNow) return;
    for (const EvictedPod& item : judged.evicted) {
        const PodId pod = judged.owner(item.entry->owner).pod;
        if (pod && judged.resizes(pod)) grow(pod);
    }
}

void Scene::add(Seat seat) {
    seats_[seat.pod] = seat;
    if (seat.node) by_node_[seat.node].push_back(seat.pod);
    if (const GangId gang = case_->row(seat.pod).gang) ++members_[gang];
    count_queue(seat, +1);
    count_waiting(seat.pod, -1);
    neighbours_->count(seat, +1);
}

void Scene::remove(PodId pod) {
    const Seat seat = seats_[pod];
    neighbours_->count(seat, -1);
    seats_[pod] = {};
    if (seat.node) std::erase(by_node_[seat.node], pod);
    if (const GangId gang = case_->row(pod).gang) --members_[gang];
    count_queue(seat, -1);
    count_waiting(pod, +1);
}

void Scene::put_back(PodId victim) {
    add({victim, case_->cluster.find_node(case_->fact(victim).node), nullptr, false});
}

void Scene::grow(PodId resizing) {
    if (!has(resizing)) return;
    Seat seat = seats_[resizing];
    remove(resizing);
    seat.grown = true;
    add(seat);
}

void Scene::count_waiting(PodId pod, int sign) {
    const QueueId queue = case_->row(pod).queue;
    if (!case_->has_quotas || !queue || !case_->waits(pod) || !case_->is_fixed(pod)) return;
    if (case_->row(pod).has(kForeign) || case_->row(pod).has(kServing)) return;
    for (const QueueId above : case_->path(queue)) {
        for (const auto& [dim, value] : case_->spec(pod).requests)
            waiting_by_queue_[above].add(dim, sign * value);
    }
}

void Scene::count_queue(const Seat& seat, int sign) {
    const QueueId queue = case_->row(seat.pod).queue;
    if (!queue) return;
    const bool fixed = case_->has_quotas && case_->is_fixed(seat.pod);
    const auto count = [&](QueueId above, Dim dim, std::int64_t value) {
        by_queue_[above].add(dim, value);
        if (fixed) fixed_by_queue_[above].add(dim, value);
        if (seat.placed != nullptr) placed_by_queue_[above].add(dim, value);
    };
    for (const QueueId above : case_->path(queue)) {
        count(above, kPods, sign);
        for (const auto& [dim, value] : case_->spec(seat.pod).requests) {
            if (dim != kPods) count(above, dim, sign * amount(seat, dim));
        }
    }
}

std::int64_t Scene::amount(const Seat& seat, Dim dim) const {
    if (dim == kPods) return 1;
    const Resources& requests = case_->spec(seat.pod).requests;
    const auto& held = case_->fact(seat.pod).more().resize_held;
    // Until its resize is granted, a pod holds what it had.
    return held && !seat.grown && requests.lists(dim) ? held->get(dim) : requests.get(dim);
}

std::int64_t Scene::used(NodeId node, Dim dim) const {
    std::int64_t sum = 0;
    for (const PodId pod : by_node_[node])
        sum = saturating_add(sum, amount(seats_[pod], dim));
    return sum;
}

}  // namespace reprieve
