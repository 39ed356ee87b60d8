// Controllers: what makes and removes pods in the embedded cluster: Deployments, ReplicaSets, StatefulSets, Jobs and
// Volcano's Jobs, as far as decisions depend on them.
//
// They watch the Store and bring each owner that changed to what it asks for. An owner that is in no manifest (a dump
// of nodes and pods alone) is served too: a pod that it lost is made again after the likeness of the lost one. An
// owner that was there and is deleted takes its pods with it.
#pragma once

#include <map>
#include <set>
#include <string>

#include "sim/api.h"
#include "sim/pod_maker.h"
#include "sim/store.h"

namespace reprieve {

class Controllers {
public:
    Controllers(Store& store, Api& api) : store_(store), api_(api), maker_(store) {}

    void observe(SlotId slot);
    // Serves the owners that changed.
    void act();

private:
    void replace(SlotId slot);
    void serve(const ObjectKey& owner);

    // replicas.cc
    void serve_deployment(SlotId owner);
    void serve_replica_set(SlotId owner);
    void serve_stateful_set(SlotId owner);
    [[nodiscard]] std::vector<SlotId> related_pods(SlotId set) const;
    [[nodiscard]] SlotId make_replica_set(const Store::Entry& deployment);

    // jobs.cc
    void serve_job(SlotId owner);
    void serve_volcano_job(SlotId owner);
    [[nodiscard]] std::string group_of(const Store::Entry& job);

    [[nodiscard]] std::vector<SlotId> active_pods(const ObjectKey& owner) const;
    void remove(SlotId pod);

    Store& store_;
    Api& api_;
    PodMaker maker_;
    std::set<ObjectKey> dirty_;
    std::map<ObjectKey, std::set<std::string>> finished_;  // by Job: UIDs of its pods that succeeded, there or not
    std::set<SlotId> lost_;                                // pods of owners that are in no manifest
    std::set<std::string> replaced_;                       // their uids, once there is another
};

}  // namespace reprieve
