#include "state/serving_members.h"

namespace reprieve {
namespace {

StringId labelled(const Cluster& cluster, StringId ns, const Labels& labels) {
    const StringId named = serving_label(cluster, labels);
    return named && cluster.servings().find(ns, named) ? named : StringId();
}

// Wants replicas of its own, and no ServingDeployment speaks for it.
bool serves_by_itself(const Cluster& cluster, const Workload& workload) {
    return workload.desired_replicas && !cluster.servings().find(workload.ns, workload.name) &&
           !labelled(cluster, workload.ns, workload.labels);
}

// The uppermost controller that is known above a pod.
const Workload* workload_above(const Cluster& cluster, const Pod& pod) {
    static constexpr std::pair<std::string_view, WorkloadKind> kSteps[] = {{"ReplicaSet", WorkloadKind::kReplicaSet},
                                                                           {"Deployment", WorkloadKind::kDeployment},
                                                                           {"Revision", WorkloadKind::kRevision}};
    const Workload* found = nullptr;
    OwnerRef owner = pod.owner;
    for (const auto& [kind, step] : kSteps) {
        if (cluster.words().text(owner.kind) != kind) continue;
        const Workload* above = cluster.workload(step, pod.ns, owner.name);
        if (above == nullptr) break;
        found = above;
        owner = above->owner;
    }
    return found;
}

constexpr const char* kKnativeService = "serving.knative.dev/service";

// A Service whose Revisions are known is those Revisions.
bool has_revisions(const Cluster& cluster, const Workload& service) {
    const StringId key = cluster.words().find_string(kKnativeService);
    bool found = false;
    cluster.revisions().for_each([&](Cluster::PlainId, const Workload& w) {
        if (w.ns != service.ns) return;
        const bool named = key && w.labels.get(key) == service.name;
        const bool owned = cluster.words().text(w.owner.kind) == "Configuration" && w.owner.name == service.name;
        found = found || named || owned;
    });
    return found;
}

// The Knative Service that a pod says it belongs to.
StringId by_service(const Cluster& cluster, const Pod& pod) {
    const StringId key = cluster.words().find_string(kKnativeService);
    const StringId name = key ? cluster.words().labels(pod.labels).get(key) : StringId();
    const Workload* service = name ? cluster.workload(WorkloadKind::kKnativeService, pod.ns, name) : nullptr;
    return service == nullptr ? StringId() : serving_of(cluster, *service);
}

StringId selecting(const Cluster& cluster, const Pod& pod) {
    StringId found;
    for (const auto& id : cluster.serving_workloads()) {
        const Workload* w = cluster.workload(id);
        if (!w->desired_replicas || w->ns != pod.ns || w->selector.null) continue;
        if (!serves_by_itself(cluster, *w) || !w->selector.matches(cluster.words().labels(pod.labels), cluster.words()))
            continue;
        // Where several select it, the first by name, whatever came first.
        if (!found || cluster.words().text(w->name) < cluster.words().text(found)) found = w->name;
    }
    return found;
}

}  // namespace

StringId serving_label(const Cluster& cluster, const Labels& labels) {
    const StringId key = cluster.words().find_string("reprieve.dev/serving");
    return key ? labels.get(key) : StringId();
}

StringId serving_of(const Cluster& cluster, const Workload& workload) {
    if (workload.kind != WorkloadKind::kDeployment && workload.kind != WorkloadKind::kRevision &&
        workload.kind != WorkloadKind::kKnativeService)
        return {};
    if (workload.kind == WorkloadKind::kKnativeService && has_revisions(cluster, workload)) return {};
    // The Deployment that a Revision owns follows the Revision.
    if (cluster.words().text(workload.owner.kind) == "Revision") return {};
    if (const StringId named = labelled(cluster, workload.ns, workload.labels)) return named;
    return serves_by_itself(cluster, workload) ? workload.name : StringId();
}

StringId serving_of(const Cluster& cluster, const Pod& pod) {
    if (cluster.servings().size() == 0 && cluster.serving_workloads().empty()) return {};
    if (const StringId named = labelled(cluster, pod.ns, cluster.words().labels(pod.labels))) return named;
    if (const StringId service = by_service(cluster, pod)) return service;
    // Who has a controller that is no serving deployment's is not told by labels.
    const Workload* above = workload_above(cluster, pod);
    if (above != nullptr && above->kind != WorkloadKind::kReplicaSet) return serving_of(cluster, *above);
    return selecting(cluster, pod);
}

}  // namespace reprieve
