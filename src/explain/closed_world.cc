#include "explain/closed_world.h"

#include "base/check.h"
#include "explain/levers.h"
#include "explain/subject.h"
#include "model/placed_devices.h"

namespace reprieve {

void ClosedWorld::follow(const Plan& plan) {
    for (const Eviction& eviction : plan.evictions)
        evict(eviction);
    for (const std::string& name : plan.nominations_cleared) {
        const PodId pod = pod_named(cluster_, name);
        if (!pod) continue;
        Pod after = cluster_.pod(pod);
        after.nominated = {};
        change(pod, std::move(after));
    }
    for (const Placement& placement : plan.placements)
        place(placement);
}

void ClosedWorld::evict(const Eviction& eviction) {
    const PodId pod = pod_named(cluster_, eviction.pod);
    REPRIEVE_CHECK(pod, "evicts {}, which is not there", eviction.pod);
    Pod after = cluster_.pod(pod);
    // One that is leaving already is only hastened.
    if (after.terminating()) return;
    after.deleting = cluster_.snapshot().now_time + Duration{after.grace_seconds * 1'000'000};
    after.disruption_target = true;
    change(pod, std::move(after));
    if (eviction.mode != EvictionMode::kScaleDown) returning_.insert(eviction.pod);
}

void ClosedWorld::place(const Placement& placement) {
    const PodId pod = pod_named(cluster_, placement.pod);
    REPRIEVE_CHECK(pod, "places {}, which is not there", placement.pod);
    Pod after = cluster_.pod(pod);
    const StringId node = cluster_.words().string(placement.node);
    after.nominated = placement.after_evictions ? node : StringId();
    if (!placement.after_evictions) {
        after.node = node;
        after.phase = PodPhase::kRunning;
        after.started = cluster_.snapshot().now_time;
        if (!placement.devices.empty()) after.make_extras().held_devices = placed_devices(placement.devices);
    }
    change(pod, std::move(after));
}

bool ClosedWorld::let_victims_go() {
    std::vector<Pod> leaving;
    const Snapshot& s = world_.snapshot();
    for (PodId id : IdRange<PodId>(s.pods.size())) {
        if (s.pods[id].state == PodState::kTerminating) leaving.push_back(cluster_.pod(id));
    }
    for (Pod& pod : leaving) {
        const std::string name = cluster_.words().str(pod.ns) + "/" + pod.name;
        if (returning_.erase(name) > 0) gone_.push_back(pod);
        world_.remove(std::move(pod));
    }
    return !leaving.empty();
}

void ClosedWorld::return_victims() {
    for (const Pod& victim : gone_) {
        Pod pod = unbound(victim);
        pod.name += "-again";
        pod.uid.clear();
        pod.created = cluster_.snapshot().now_time;
        pod.deleting = {};
        pod.nominated = {};
        pod.disruption_target = false;
        world_.add(std::move(pod));
    }
    gone_.clear();
}

}  // namespace reprieve
