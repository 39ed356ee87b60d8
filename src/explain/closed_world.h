// ClosedWorld: what becomes of a cluster in which plans are followed to the letter and nothing else happens.
//
// Victims get a deletion time and keep their room until they are let go; placements `now` run from then on and hold
// their devices, also those of claims; those after evictions are nominated. The clock stands still. Afterwards the
// cluster is as before.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "explain/what_if.h"

namespace reprieve {

class ClosedWorld {
public:
    explicit ClosedWorld(Cluster& cluster) : cluster_(cluster), world_(cluster) {}

    [[nodiscard]] Plan plan(const SchedulerConfig& config) { return world_.plan(config); }
    [[nodiscard]] const Snapshot& snapshot() { return world_.snapshot(); }

    void follow(const Plan& plan);
    // Everything that is terminating is gone. False: there was nothing.
    bool let_victims_go();
    // Those whom a plan evicted and who are gone are made anew, pending, as NAME-again; whoever was scaled down is not.
    void return_victims();

private:
    void change(PodId pod, Pod after) { world_.change(cluster_.pod(pod), std::move(after)); }
    void evict(const Eviction& eviction);
    void place(const Placement& placement);
    void give_devices(const Placement& placement);
    // As the resourceclaim controller does it: users that are gone leave, and the last one frees the devices.
    void leave_claims(const Pod& gone);

    Cluster& cluster_;
    WhatIf world_;
    std::set<std::string> returning_;  // victims that will come back
    std::vector<Pod> gone_;
};

}  // namespace reprieve
