#include "audit/standings.h"

#include <algorithm>
#include <map>
#include <utility>

namespace reprieve {
namespace {

constexpr std::int32_t kWaitsForEver = 1'000'000;  // the minimum of a gang that no object and no pod gives one

}  // namespace

Standings::Standings(const Cluster& cluster)
    : cluster_(cluster),
      own_(cluster.pod_slots()),
      gangs_(cluster.snapshot().gangs.size()) {
    find_default_class();
    for (const PodId pod : IdRange<PodId>(cluster.pod_slots())) {
        if (cluster.pod(pod).ns) own_[pod] = priority_of(cluster.pod(pod));
    }
    for (const GangId gang : IdRange<GangId>(gangs_.size()))
        work_out_gang(gang);
    work_out_paths();
}

void Standings::find_default_class() {
    const auto& classes = cluster_.priority_classes();
    using AnyClass = decltype(classes.find({}, {}));
    const auto rank = [&](const PriorityClass& c) { return std::pair(c.value, cluster_.words().text(c.name)); };
    for (const AnyClass id : IdRange<AnyClass>(classes.slots())) {
        const PriorityClass* one = classes.get(id);
        if (one == nullptr || !one->global_default) continue;
        if (default_class_ == nullptr || rank(*one) < rank(*default_class_)) default_class_ = one;
    }
}

const PriorityClass* Standings::class_of(const Pod& pod) const {
    if (pod.priority_class) return cluster_.priority_class(pod.priority_class);
    return pod.priority ? nullptr : default_class_;
}

std::int32_t Standings::priority_of(const Pod& pod) const {
    if (pod.priority) return *pod.priority;
    if (const PriorityClass* named_class = class_of(pod)) return named_class->value;
    const std::string_view name = cluster_.words().text(pod.priority_class);
    if (name == "system-node-critical") return 2'000'001'000;
    return name == "system-cluster-critical" ? 2'000'000'000 : 0;
}

const std::int32_t* Standings::named(const std::optional<std::int32_t>& value, StringId cls) const {
    if (value) return &*value;
    const PriorityClass* found = cls ? cluster_.priority_class(cls) : nullptr;
    return found == nullptr ? nullptr : &found->value;
}

void Standings::work_out_gang(GangId gang) {
    const Snapshot& snapshot = cluster_.snapshot();
    const GangRow& row = snapshot.gangs[gang];
    GangStanding& out = gangs_[gang];
    std::int32_t written = -1;
    bool any = false;
    for (const PodId pod : row.pods) {
        const Pod& fact = cluster_.pod(pod);
        if (fact.finished()) continue;
        out.attack = any ? std::min(out.attack, own_[pod]) : own_[pod];
        out.defence = any ? std::max(out.defence, own_[pod]) : own_[pod];
        any = true;
        written = std::max(written, fact.more().koordinator_min);
    }
    const std::int32_t* priority = nullptr;
    if (row.fact != nullptr) {
        out.minimum = row.fact->min_members;
        priority = named(row.fact->priority, row.fact->priority_class);
    } else {
        out.minimum = written >= 0 ? written : kWaitsForEver;
    }
    // The root of a tree of groups speaks for all below it.
    for (CompositeId at = row.composite; at; at = snapshot.composites[at].parent) {
        if (snapshot.composites[at].parent) continue;
        const CompositeGroup& root = *snapshot.composites[at].fact;
        if (const std::int32_t* all = named(root.priority, root.priority_class)) priority = all;
    }
    if (priority == nullptr) return;
    out.attack = out.defence = *priority;
    out.by_group = true;
}

void Standings::work_out_paths() {
    const auto& rows = cluster_.snapshot().queues;
    std::map<StringId, QueueId> by_name;
    for (const QueueId queue : IdRange<QueueId>(rows.size())) {
        if (rows[queue].alive && rows[queue].fact != nullptr) by_name.emplace(rows[queue].fact->name, queue);
    }
    const auto parent_of = [&](QueueId queue) {
        const Queue* fact = rows[queue].fact;
        // Koordinator writes an object for the root as well; it is above nobody.
        if (fact == nullptr || !fact->parent || cluster_.words().text(fact->parent) == "koordinator-root-quota")
            return QueueId();
        const auto at = by_name.find(fact->parent);
        return at == by_name.end() ? QueueId() : at->second;
    };
    paths_.resize(rows.size());
    for (const QueueId queue : IdRange<QueueId>(rows.size())) {
        for (QueueId at = queue; at; at = parent_of(at)) {
            if (std::ranges::find(paths_[queue], at) != paths_[queue].end()) break;
            paths_[queue].push_back(at);
        }
    }
}

std::int32_t Standings::as_victim(PodId pod) const {
    const GangId gang = cluster_.snapshot().pods[pod].gang;
    return gang ? gangs_[gang].defence : own_[pod];
}

std::int32_t Standings::as_attacker(PodId pod) const {
    const GangId gang = cluster_.snapshot().pods[pod].gang;
    if (!gang) return own_[pod];
    return gangs_[gang].by_group || gangs_[gang].minimum >= 1 ? gangs_[gang].attack : own_[pod];
}

}  // namespace reprieve
