#include "sim/controllers.h"

#include <utility>

namespace reprieve {
namespace {

bool keeps_names(const std::string& owner_kind) {
    return owner_kind == "StatefulSet.apps" || owner_kind == "Job.batch.volcano.sh";
}

bool replaces_pods(const std::string& owner_kind) {
    return owner_kind == "ReplicaSet.apps" || owner_kind == "Deployment.apps" ||
           owner_kind == "ReplicationController" || owner_kind == "Job.batch" || keeps_names(owner_kind);
}

}  // namespace

void Controllers::observe(SlotId slot) {
    const Store::Entry& entry = store_.at(slot);
    if (!entry.owner.kind.empty()) dirty_.insert(entry.owner);
    if (!entry.is_pod()) {
        dirty_.insert(entry.key);
        return;
    }
    if (entry.owner.kind == "Job.batch" && entry.pod().phase == PodPhase::kSucceeded)
        finished_[entry.owner].insert(entry.uid());
    const bool unknown_owner = !store_.slots().contains(entry.owner) && replaces_pods(entry.owner.kind);
    if (!unknown_owner || entry.pod().finished() || replaced_.contains(entry.uid())) return;
    if (!entry.present || (entry.pod().terminating() && !keeps_names(entry.owner.kind))) lost_.insert(slot);
}

void Controllers::act() {
    for (SlotId slot : std::exchange(lost_, {}))
        replace(slot);
    for (const ObjectKey& owner : std::exchange(dirty_, {}))
        serve(owner);
}

void Controllers::replace(SlotId slot) {
    const Store::Entry& lost = store_.at(slot);
    replaced_.insert(lost.uid());
    const std::string name =
        keeps_names(lost.owner.kind) ? lost.key.name : maker_.fresh_name(lost.key.ns, lost.owner.name);
    maker_.create(maker_.again(lost.body, name));
}

void Controllers::serve(const ObjectKey& key) {
    const SlotId owner = store_.find(key);
    if (!owner) return;
    if (key.kind == "Deployment.apps") serve_deployment(owner);
    if (key.kind == "ReplicaSet.apps") serve_replica_set(owner);
    if (key.kind == "StatefulSet.apps") serve_stateful_set(owner);
    if (key.kind == "Job.batch") serve_job(owner);
    if (key.kind == "Job.batch.volcano.sh") serve_volcano_job(owner);
}

std::vector<SlotId> Controllers::active_pods(const ObjectKey& owner) const {
    std::vector<SlotId> out;
    for (SlotId slot : store_.children(owner)) {
        const Store::Entry& entry = store_.at(slot);
        if (entry.is_pod() && !entry.pod().terminating() && !entry.pod().finished()) out.push_back(slot);
    }
    return out;
}

void Controllers::remove(SlotId pod) {
    const Store::Entry& entry = store_.at(pod);
    static_cast<void>(api_.remove({entry.key.ns + "/" + entry.key.name, entry.uid()}));
}

}  // namespace reprieve
