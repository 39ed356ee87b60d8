#include "explain/closed_world.h"

#include <algorithm>

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
    if (!placement.after_evictions) give_devices(placement);
}

void ClosedWorld::give_devices(const Placement& placement) {
    Vocabulary& words = cluster_.words();
    for (const PlacedClaim& placed : placement.claims) {
        const std::size_t slash = placed.claim.find('/');
        const StringId ns = words.string(placed.claim.substr(0, slash));
        const StringId name = words.string(placed.claim.substr(slash + 1));
        const ResourceClaim* fact = cluster_.resource_claims().get(ns, name);
        ResourceClaim after;
        if (fact != nullptr) after = *fact;
        after.ns = ns;
        after.name = name;
        if (!after.allocation) after.allocation = placed_allocation(placed, words);
        after.consumers.push_back(placed_consumer(placement));
        if (fact != nullptr)
            world_.change(ResourceClaim(*fact), std::move(after));
        else
            world_.add(std::move(after));
    }
}

void ClosedWorld::leave_claims(const Pod& gone) {
    std::vector<ResourceClaim> left;
    cluster_.resource_claims().for_each([&](auto, const ResourceClaim& claim) {
        const auto is_gone = [&](const ClaimConsumer& user) {
            return user.is_pod && user.name == gone.name && (user.uid.empty() || user.uid == gone.uid);
        };
        if (claim.ns == gone.ns && std::ranges::any_of(claim.consumers, is_gone)) left.push_back(claim);
    });
    for (const ResourceClaim& claim : left) {
        ResourceClaim after = claim;
        std::erase_if(after.consumers, [&](const ClaimConsumer& user) {
            return user.is_pod && user.name == gone.name && (user.uid.empty() || user.uid == gone.uid);
        });
        if (after.consumers.empty()) after.allocation.reset();
        world_.change(claim, std::move(after));
    }
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
        leave_claims(pod);
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
        // Its claims are made anew with it.
        if (pod.extras) {
            pod.extras->claim_statuses.clear();
            pod.extras->extended_claim = {};
        }
        world_.add(std::move(pod));
    }
    gone_.clear();
}

}  // namespace reprieve
