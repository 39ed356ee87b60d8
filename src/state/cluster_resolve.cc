// Cluster: what follows for a pod or gang from several facts together.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "state/cluster.h"
#include "state/serving_members.h"

namespace reprieve {
namespace {

constexpr std::int32_t kClusterCritical = 2'000'000'000;
constexpr std::int32_t kNodeCritical = 2'000'001'000;
constexpr std::int32_t kNeverStarts = 1'000'000;  // a gang without a written minimum waits for one

}  // namespace

const PriorityClass* Cluster::class_of(const Pod& pod) const {
    if (pod.priority_class) return priority_class(pod.priority_class);
    if (pod.priority) return nullptr;
    return default_priority_class();
}

// Of several, the smallest value counts, then the name: the order in which they came says nothing.
const PriorityClass* Cluster::default_priority_class() const {
    const PriorityClass* found = nullptr;
    for (PlainId id : IdRange<PlainId>(priority_classes_.slots())) {
        const PriorityClass* c = priority_classes_.get(id);
        if (c == nullptr || !c->global_default) continue;
        if (found == nullptr || c->value < found->value ||
            (c->value == found->value && words_.text(c->name) < words_.text(found->name)))
            found = c;
    }
    return found;
}

std::int32_t Cluster::priority_of(const Pod& pod) const {
    if (pod.priority) return *pod.priority;
    if (const PriorityClass* c = class_of(pod)) return c->value;
    const std::string_view name = words_.text(pod.priority_class);
    if (name == "system-cluster-critical") return kClusterCritical;
    if (name == "system-node-critical") return kNodeCritical;
    return 0;
}

std::optional<std::int32_t> Cluster::group_priority(const std::optional<std::int32_t>& value, StringId cls) const {
    if (value) return value;
    if (const PriorityClass* c = cls ? priority_class(cls) : nullptr) return c->value;
    return std::nullopt;
}

bool Cluster::is_ours(const PodSpec& spec) const {
    return scheduler_ids_.empty() || std::ranges::find(scheduler_ids_, spec.scheduler) != scheduler_ids_.end();
}

bool Cluster::serves(const Pod& pod) const { return serving_of(*this, pod).valid(); }

GangId Cluster::gang_of(PodId id) {
    const Pod& pod = pods_[id];
    if (!pod.group) return {};
    if (const GangId known = gangs_.find(pod.ns, pod.group)) return known;
    const PodExtras& more = pod.more();
    if (more.koordinator_min < 0 && !more.koordinator_gang_groups) {
        count_in(ungrouped_, name_key(pod.ns, pod.group), id, true);
        return {};
    }
    // A gang that only its pods know.
    const GangId made = gangs_.reserve(pod.ns, pod.group);
    snapshot_.gangs.resize(std::max(snapshot_.gangs.size(), gangs_.slots()));
    snapshot_.gangs[made] = {.ns = pod.ns, .name = pod.group, .alive = true};
    return made;
}

QueueId Cluster::find_queue(StringId ns, StringId name) const {
    if (const QueueId own = ns ? queues_.find(ns, name) : QueueId()) return own;
    if (const QueueId shared = queues_.find({}, name); queues_.get(shared) != nullptr) return shared;
    const auto same = quotas_by_name_.find(name);
    if (same != quotas_by_name_.end() && same->second.size() == 1) return *same->second.begin();
    return queues_.find({}, name);
}

QueueId Cluster::quota_of_namespace(StringId ns) const {
    const auto [known, fresh] = quota_of_namespace_.try_emplace(ns);
    if (!fresh) return known->second;
    if (const QueueId own = queues_.find(ns, ns)) return known->second = own;
    QueueId listing;
    QueueId only;
    int inside = 0;
    queues_.for_each([&](QueueId id, const Queue& q) {
        if (!q.is_quota) return;
        if (std::ranges::find(q.namespaces, ns) != q.namespaces.end() && (!listing || quota_before(id, listing)))
            listing = id;
        if (q.ns == ns) {
            only = id;
            ++inside;
        }
    });
    return known->second = listing ? listing : inside == 1 ? only : QueueId();
}

bool Cluster::quota_before(QueueId a, QueueId b) const {
    const Queue& x = *queues_.get(a);
    const Queue& y = *queues_.get(b);
    return std::pair(words_.text(x.name), words_.text(x.ns)) < std::pair(words_.text(y.name), words_.text(y.ns));
}

QueueId Cluster::queue_of(const Pod& pod, GangId gang, const IdVector<QueueId, QueueRow>& rows, bool& missing) const {
    StringId name;
    if (pod.queue && !pod.queue_is_quota) name = pod.queue;
    if (!name && gang && snapshot_.gangs[gang].fact != nullptr) name = snapshot_.gangs[gang].fact->queue;
    if (!name && pod.queue) name = pod.queue;
    QueueId id;
    if (name)
        id = find_queue(pod.ns, name);
    else
        id = queues_.size() > 0 ? quota_of_namespace(pod.ns) : default_queue_;
    if (!name && !id && options_.queues_by_namespace && queues_.get({}, pod.ns) != nullptr)
        id = queues_.find({}, pod.ns);
    if (!name && !id) id = default_queue_;
    if (id && !rows[id].in_circle) return id;
    missing = true;
    return {};
}

std::uint16_t Cluster::traits_of(PodId id, GangId gang, QueueId queue) const {
    const Pod& pod = pods_[id];
    unsigned traits = 0;
    const std::string_view cls_name = words_.text(pod.priority_class);
    if (cls_name == "system-cluster-critical" || cls_name == "system-node-critical") traits |= kCriticalClass;
    if (words_.text(pod.ns) == "kube-system") traits |= kKubeSystem;
    if (pod.mirror) traits |= kMirror;
    if (words_.text(pod.owner.kind) == "DaemonSet") traits |= kDaemon;
    if (!is_ours(words_.spec(pod.spec))) traits |= kForeign;
    if (pod.finished()) traits |= kFinished;
    if (serves(pod)) traits |= kServing;
    if (!pod.node && !hold_of(pod, gang).empty()) traits |= kHeld;
    if (pod.more().resize_held && pod.node) traits |= kResizing;

    const PriorityClass* cls = class_of(pod);
    const Gang* group = gang ? snapshot_.gangs[gang].fact : nullptr;
    const Queue* in = queue ? snapshot_.queues[queue].fact : nullptr;
    if (pod.preemption_policy == PreemptionPolicy::kNever ||
        (cls != nullptr && cls->preemption_policy == PreemptionPolicy::kNever))
        traits |= kNeverPreempts;
    if (cls != nullptr && (cls->minimum_preemptable_priority || cls->toleration_seconds)) traits |= kTolerates;
    // The nearest marker wins: pod, gang, queue, class.
    for (const std::optional<bool>& marker : {pod.more().preemptible,
                                              group != nullptr ? group->settings.preemptible : std::nullopt,
                                              in != nullptr ? in->settings.preemptible : std::nullopt,
                                              cls != nullptr ? cls->settings.preemptible : std::nullopt}) {
        if (!marker) continue;
        if (!*marker) traits |= kMarked;
        break;
    }
    return static_cast<std::uint16_t>(traits);
}

std::string Cluster::hold_of(PodId id) const { return hold_of(pods_[id], snapshot_.pods[id].gang); }

std::string Cluster::hold_of(const Pod& pod, GangId gang) const {
    if (!pod.more().hold.empty()) return pod.more().hold;
    const DeviceDialect dialect = words_.spec(pod.spec).devices.dialect;
    if (options_.leaves_dialects && dialect != DeviceDialect::kPlain)
        return fmt::format("its shares of devices are only planned: {} hands them to its device plugin",
                           scheduler_of(dialect));
    if (gang) {
        const GangRow& row = snapshot_.gangs[gang];
        if (row.fact != nullptr && !row.fact->hold.empty())
            return fmt::format("PodGroup {}: {}", words_.text(row.name), row.fact->hold);
        if (row.in_circle)
            return fmt::format("the composite groups above PodGroup {} form a circle", words_.text(row.name));
    }
    for (const VolumeUse& use : words_.spec(pod.spec).volumes) {
        const VolumeClaim* claim = use.kind == VolumeKind::kClaim ? claims_.get(claims_.find(pod.ns, use.id)) : nullptr;
        if (claim != nullptr && !claim->hold.empty())
            return fmt::format("PersistentVolumeClaim {}: {}", words_.text(claim->name), claim->hold);
    }
    return {};
}

Duration Cluster::min_runtime_of(const Pod& pod, GangId gang, QueueId queue) const {
    if (pod.more().min_runtime) return *pod.more().min_runtime;
    if (const Gang* group = gang ? snapshot_.gangs[gang].fact : nullptr;
        group != nullptr && group->settings.min_runtime)
        return *group->settings.min_runtime;
    if (const Queue* in = queue ? snapshot_.queues[queue].fact : nullptr; in != nullptr && in->settings.min_runtime)
        return *in->settings.min_runtime;
    if (const PriorityClass* cls = class_of(pod); cls != nullptr && cls->settings.min_runtime)
        return *cls->settings.min_runtime;
    return {};
}

void Cluster::resolve_pod(PodId id) {
    const Pod& pod = pods_[id];
    PodRow row;
    row.cls = class_for(pod);
    fill_new_terms();
    row.gang = gang_of(id);
    bool queue_missing = false;
    row.queue = queue_of(pod, row.gang, snapshot_.queues, queue_missing);
    row.priority = priority_of(pod);
    row.unit_priority = row.priority;
    row.traits = traits_of(id, row.gang, row.queue);
    if (queue_missing) row.traits = static_cast<std::uint16_t>(row.traits | kQueueMissing);
    if (pod.group && !row.gang) row.traits = static_cast<std::uint16_t>(row.traits | kGroupMissing);
    row.started = pod.started;
    row.created = pod.created;
    row.min_runtime = min_runtime_of(pod, row.gang, row.queue);
    if (pod.node) {
        row.node = nodes_.find({}, pod.node);
        if (!row.node && !pod.finished()) count_in(adrift_, pod.node, id, true);
    }
    if (pod.finished()) {
        row.state = PodState::kIgnored;
        row.node = {};
    } else if (pod.node) {
        // Who was asked to go by a soft eviction is leaving, too.
        const bool leaves = pod.terminating() || !pod.more().soft_eviction.empty();
        row.state = leaves ? PodState::kTerminating : PodState::kRunning;
    } else {
        row.state = pod.gated || pod.terminating() ? PodState::kIgnored : PodState::kPending;
    }
    snapshot_.pods[id] = row;
}

// Minimum, priorities and chain of a gang, from its object (or its pods, where it has none).
void Cluster::resolve_gang(GangId id) {
    GangRow& row = snapshot_.gangs[id];
    if (!row.alive) return;
    row.never_preempts = false;
    std::int32_t written = -1;
    std::int32_t lowest = std::numeric_limits<std::int32_t>::max();
    std::int32_t highest = std::numeric_limits<std::int32_t>::min();
    for (PodId p : row.pods) {
        const PodRow& pod = snapshot_.pods[p];
        if (pod.has(kNeverPreempts)) row.never_preempts = true;
        if (pod.has(kFinished)) continue;
        lowest = std::min(lowest, pod.priority);
        highest = std::max(highest, pod.priority);
        written = std::max(written, pods_[p].more().koordinator_min);
    }
    if (row.fact == nullptr) row.min = written >= 0 ? written : kNeverStarts;
    row.attack_priority = row.pods.empty() || lowest == std::numeric_limits<std::int32_t>::max() ? 0 : lowest;
    row.defend_priority = row.pods.empty() || highest == std::numeric_limits<std::int32_t>::min() ? 0 : highest;
    row.priority_from_group = false;
    std::optional<std::int32_t> priority;
    if (row.fact != nullptr) {
        row.min = row.fact->min_members;
        priority = group_priority(row.fact->priority, row.fact->priority_class);
        const PriorityClass* cls = row.fact->priority_class ? priority_class(row.fact->priority_class) : nullptr;
        if (row.fact->preemption_policy == PreemptionPolicy::kNever ||
            (cls != nullptr && cls->preemption_policy == PreemptionPolicy::kNever))
            row.never_preempts = true;
    }
    row.whole_root = {};
    for (CompositeId c = row.composite; c; c = snapshot_.composites[c].parent) {
        const CompositeGroup& fact = *snapshot_.composites[c].fact;
        if (fact.disruption == DisruptionMode::kAll) row.whole_root = c;
        if (fact.preemption_policy == PreemptionPolicy::kNever) row.never_preempts = true;
        if (!snapshot_.composites[c].parent) {
            // The root's priority is the priority of all below it.
            if (const auto root = group_priority(fact.priority, fact.priority_class)) priority = root;
        }
    }
    if (priority) {
        row.attack_priority = row.defend_priority = *priority;
        row.priority_from_group = true;
    }
    row.mixed_priorities = false;
    for (PodId p : row.pods) {
        PodRow& pod = snapshot_.pods[p];
        pod.unit_priority = row.defend_priority;
        if (!pod.has(kFinished) && pod.priority != row.defend_priority) row.mixed_priorities = true;
    }
}

}  // namespace reprieve
