#include "sim/kubelets.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/pod_times.h"

namespace reprieve {
namespace {

constexpr Duration kOrphanTime{std::int64_t{40} * 1'000'000};  // as long as Kubernetes' collector of pods waits

Time later_of(Time a, Time b) { return std::max(a, b); }

PodTimes times_of(const Store::Entry& pod) {
    const Json* metadata = find_path(pod.body, {"metadata"});
    return metadata == nullptr ? PodTimes() : read_pod_times(*metadata).value_or(PodTimes());
}

// A pod killed by force goes when its short grace ends, stuck or not.
Time end_of(const Pod& pod, const PodTimes& times) {
    if (pod.grace_seconds <= 1 || !times.terminate) return pod.deleting;
    return Time{pod.deleting.us - pod.grace_seconds * 1'000'000} + *times.terminate;
}

}  // namespace

void Kubelets::arrange(SlotId slot, EventKind kind, Time at) {
    Next& next = next_[slot];
    const std::string uid = store_.at(slot).uid();
    if (next.mark != 0 && next.kind == kind && next.at == at && next.uid == uid) return;
    next = {.kind = kind, .at = at, .uid = uid, .mark = ++marks_};
    events_.push(at, {.kind = kind, .slot = slot, .mark = next.mark});
}

void Kubelets::observe(SlotId slot) {
    const Store::Entry& entry = store_.at(slot);
    if (entry.is_pod()) observe_pod(slot);
    if (entry.key.kind == "Node") observe_node(entry);
}

void Kubelets::observe_pod(SlotId slot) {
    const Store::Entry& entry = store_.at(slot);
    if (!entry.present) {
        next_.erase(slot);
        return;
    }
    const Pod& pod = entry.pod();
    if (!pod.node) return;
    const PodTimes times = times_of(entry);
    const bool node_there = store_.find({"Node", "", store_.words().str(pod.node)}).valid();
    if (pod.terminating() && pod.finished()) {
        // It has ended, and goes once nobody holds it any more.
        if (!has_finalizers(entry.body)) arrange(slot, EventKind::kPodGone, store_.now());
    } else if (pod.terminating()) {
        const auto next = next_.find(slot);
        const bool collected = !node_there && next != next_.end() && next->second.kind == EventKind::kPodGone;
        if (!collected) arrange(slot, EventKind::kPodGone, later_of(store_.now(), end_of(pod, times)));
    } else if (!node_there || pod.finished()) {
        return;
    } else if (pod.phase == PodPhase::kPending) {
        // Arranged once: a pod that changes in other ways meanwhile does not start later for it.
        const auto next = next_.find(slot);
        const bool starting =
            next != next_.end() && next->second.kind == EventKind::kPodStarts && next->second.uid == entry.uid();
        if (!starting) arrange(slot, EventKind::kPodStarts, store_.now() + times.start);
    } else if (times.run) {
        const Time started = pod.started.is_set() ? pod.started : store_.now();
        arrange(slot, EventKind::kPodFinishes, later_of(store_.now(), started + *times.run));
    }
}

void Kubelets::observe_node(const Store::Entry& node) {
    for (SlotId slot : store_.pods_on(node.key.name)) {
        if (node.present)
            observe_pod(slot);
        else
            arrange(slot, EventKind::kPodGone, store_.now() + kOrphanTime);
    }
}

void Kubelets::fire(const Event& event) {
    const auto next = next_.find(event.slot);
    if (next == next_.end() || next->second.mark != event.mark) return;
    next_.erase(next);
    const Store::Entry& entry = store_.at(event.slot);
    if (!entry.present) return;
    const Pod& pod = entry.pod();
    if (event.kind == EventKind::kPodGone) {
        // The node of an orphan may have come back.
        const bool orphan = !pod.terminating();
        if (orphan && store_.find({"Node", "", store_.words().str(pod.node)})) return observe_pod(event.slot);
        if (!has_finalizers(entry.body)) return store_.remove(event.slot);
        // Its room is free; the object stays until its finalizers are gone.
        Json ended = entry.body;
        make_path(ended, {"status", "phase"}) = "Failed";
        if (orphan) make_path(ended, {"metadata", "deletionTimestamp"}) = format_time(store_.now());
        return store_.edit(event.slot, std::move(ended));
    }
    if (pod.terminating() || pod.finished()) return;
    Json body = entry.body;
    const bool starts = event.kind == EventKind::kPodStarts;
    make_path(body, {"status", "phase"}) = starts ? "Running" : "Succeeded";
    if (starts) make_path(body, {"status", "startTime"}) = format_time(store_.now());
    set_condition(body, "Ready", starts, starts ? "" : "PodCompleted");
    store_.edit(event.slot, std::move(body));
}

}  // namespace reprieve
