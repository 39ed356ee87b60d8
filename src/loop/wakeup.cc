#include "loop/wakeup.h"

#include <algorithm>

#include "model/soft_eviction.h"

namespace reprieve {
namespace {

class Earliest {
public:
    explicit Earliest(Time now) : now_(now) {}
    void note(Time time) {
        if (time > now_ && (!best_.is_set() || time < best_)) best_ = time;
    }
    [[nodiscard]] Time best() const { return best_; }

private:
    Time now_;
    Time best_;
};

// Until when pods are protected by their age.
void note_protections(const Cluster& cluster, Earliest& out) {
    const Snapshot& s = cluster.snapshot();
    for (PodId pod : IdRange<PodId>(s.pods.size())) {
        const PodRow& row = s.pods[pod];
        // Whoever has not started will be heard of when it does.
        if (row.state != PodState::kRunning || !row.started.is_set()) continue;
        if (row.min_runtime.us > 0) out.note(row.started + row.min_runtime);
        if (!row.has(kTolerates)) continue;
        const PriorityClass* cls = cluster.priority_class(cluster.pod(pod).priority_class);
        if (cls != nullptr && cls->toleration_seconds)
            out.note(row.started + Duration{*cls->toleration_seconds * 1'000'000});
    }
}

void note_queues(const Cluster& cluster, Duration delay, Earliest& out) {
    for (const QueueRow& row : cluster.snapshot().queues) {
        if (row.alive && row.fact != nullptr && row.fact->over_since.is_set()) out.note(row.fact->over_since + delay);
    }
}

// Until when pods have time that were asked to go, by earlier plans or by this one.
void note_soft_evictions(const Cluster& cluster, const Plan& plan, Duration deadline, Earliest& out) {
    const Snapshot& s = cluster.snapshot();
    for (PodId pod : IdRange<PodId>(s.pods.size())) {
        if (s.pods[pod].state != PodState::kTerminating) continue;
        const auto asked = soft_eviction_of(cluster.pod(pod));
        if (asked && asked->initiator == SoftEviction::kOurs && asked->since.is_set())
            out.note(asked->since + deadline);
    }
    if (std::ranges::find(plan.evictions, EvictionMode::kSoft, &Eviction::mode) != plan.evictions.end())
        out.note(plan.now + deadline);
}

bool queues_wait(const Plan& plan) {
    return std::ranges::any_of(plan.queues, [](const QueueReport& queue) {
        const auto share = queue.shares.find("preempting");
        return share != queue.shares.end() &&
               std::ranges::any_of(share->second, [](const auto& item) { return item.second > 0; });
    });
}

}  // namespace

Time next_wakeup(const Cluster& cluster, const Plan& plan, const SchedulerConfig& config, bool at_a_standstill) {
    Earliest out(plan.now);
    if (!plan.unplaced.empty() || queues_wait(plan)) note_protections(cluster, out);
    for (const ActionConfig& action : actions_of(config)) {
        if (action.kind == ActionKind::kRevoke) note_queues(cluster, action.delay_evict_time, out);
        if (action.kind == ActionKind::kJobPreempt && action.soft_eviction_deadline)
            note_soft_evictions(cluster, plan, *action.soft_eviction_deadline, out);
        if (action.kind == ActionKind::kServingPreempt && !plan.matches.empty() && !at_a_standstill) {
            for (Duration step : {action.force_delete_timeout, action.min_terminating, action.claim_timeout})
                out.note(plan.now + step);
        }
    }
    return out.best();
}

}  // namespace reprieve
