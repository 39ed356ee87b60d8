#include "sim/plane_scheduler.h"

namespace reprieve {
namespace {

constexpr const char* kServing = "reprieve.dev/serving";
constexpr const char* kPlane = "reprieve.dev/plane";
constexpr const char* kDesired = "reprieve.dev/desired-replicas";

std::string label(const Json& body, const char* key) { return text_at(body, {"metadata", "labels", key}); }

std::string plane_named(const Json& body) {
    const std::string plane = label(body, kPlane);
    return plane.empty() ? "default" : plane;
}

}  // namespace

bool PlaneScheduler::is_replica(const Store::Entry& pod) const {
    if (const std::string serving = label(pod.body, kServing);
        !serving.empty() && store_.find({"ServingDeployment.reprieve.dev", pod.key.ns, serving}))
        return true;
    const SlotId set = store_.find(pod.owner);
    const SlotId deployment = set ? store_.find(store_.at(set).owner) : SlotId();
    return deployment && !text_at(store_.at(deployment).body, {"metadata", "annotations", kDesired}).empty();
}

std::string PlaneScheduler::plane_of(const Store::Entry& pod) const {
    const SlotId set = store_.find(pod.owner);
    const SlotId deployment = set ? store_.find(store_.at(set).owner) : SlotId();
    return label(pod.body, kPlane).empty() && deployment ? plane_named(store_.at(deployment).body)
                                                         : plane_named(pod.body);
}

void PlaneScheduler::observe(SlotId slot) {
    changed_ = true;
    const Store::Entry& entry = store_.at(slot);
    if (!entry.is_pod()) return;
    const bool waits = entry.present && !entry.pod().node && !entry.pod().terminating() && !entry.pod().gated;
    if (waits && is_replica(entry))
        waiting_.insert(slot);
    else
        waiting_.erase(slot);
}

void PlaneScheduler::act() {
    if (!changed_) return;
    changed_ = false;
    for (SlotId slot : waiting_)
        bind(slot);
}

void PlaneScheduler::bind(SlotId slot) {
    const Store::Entry& pod = store_.at(slot);
    const std::string plane = plane_of(pod);
    for (SlotId target : store_.of_kind("Node")) {
        const Store::Entry& node = store_.at(target);
        const auto& fact = std::get<Node>(node.object);
        if (plane_named(node.body) != plane || fact.unschedulable || !fact.ready) continue;
        if (api_.bind({pod.key.ns + "/" + pod.key.name, pod.uid()}, node.key.name, {})) return;
    }
}

}  // namespace reprieve
