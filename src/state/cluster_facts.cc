// Cluster: one fact in or out, and whom it touches.
#include <algorithm>

#include "base/check.h"
#include "base/hash.h"
#include "model/soft_eviction.h"
#include "state/cluster.h"
#include "state/serving_members.h"

namespace reprieve {

void Cluster::touch(PodId id) {
    withdraw(id);
    dirty_pods_.push_back(id);
}

void Cluster::touch_all(const std::set<PodId>& pods) {
    const std::vector<PodId> copy(pods.begin(), pods.end());  // withdrawing may change the set
    for (PodId id : copy)
        touch(id);
}

template <class Wanted>
void Cluster::touch_where(Wanted wanted) {
    if (!built_) return;
    for (PodId id : IdRange<PodId>(pods_.size())) {
        if (pods_[id].ns && wanted(id)) touch(id);
    }
}

void Cluster::index_pod(PodId id, bool enter) {
    const Pod& pod = pods_[id];
    if (pod.group) count_in(by_group_, name_key(pod.ns, pod.group), id, enter);
    for (const VolumeUse& use : words_.spec(pod.spec).volumes) {
        if (use.kind == VolumeKind::kClaim) count_in(by_claim_, name_key(pod.ns, use.id), id, enter);
    }
    index_claims(id, enter);
}

// What a pod of a namespace that is not trusted says of its own treatment is not heard. That it cannot be read, or was
// asked to go by us, is not its own word.
void Cluster::distrust(Pod& pod) const {
    const Trust& trust = options_.trust;
    if (trust.everybody || !pod.extras) return;
    if (std::ranges::find(trust.namespaces, words_.text(pod.ns)) != trust.namespaces.end()) return;
    PodExtras& extras = *pod.extras;
    if (extras.hold.empty()) extras.preemptible.reset();
    extras.min_runtime.reset();
    extras.can_preempt.reset();
    const auto asked = soft_eviction_of(pod);
    if (!asked || asked->initiator != SoftEviction::kOurs) extras.soft_eviction.clear();
}

bool Cluster::put(Pod fact) {
    distrust(fact);
    PodId id = find_pod(fact.ns, fact.name);
    if (id && pods_[id] == fact) return false;
    if (id) {
        withdraw(id);
        index_pod(id, false);
        pods_[id] = std::move(fact);
    } else {
        if (unused_pods_.empty()) {
            id = pods_.push_back({});
        } else {
            id = unused_pods_.back();
            unused_pods_.pop_back();
        }
        const std::uint64_t hash = pod_hash(fact.ns, fact.name);
        pods_[id] = std::move(fact);
        pod_index_.insert(hash, id);
        if (pod_index_.needs_room())
            pod_index_.make_room([&](PodId p) { return pod_hash(pods_[p].ns, pods_[p].name); });
    }
    index_pod(id, true);
    dirty_pods_.push_back(id);
    return true;
}

bool Cluster::drop(const Pod& like) {
    const PodId id = find_pod(like.ns, like.name);
    if (!id) return false;
    withdraw(id);
    index_pod(id, false);
    pod_index_.erase(pod_hash(like.ns, like.name), [&](PodId p) { return p == id; });
    pods_[id] = Pod();
    unused_pods_.push_back(id);
    return true;
}

// What the node offers leaves the sums until the next refresh; it may have left them already.
void Cluster::withdraw_offer(NodeId id) {
    if (!dirty_nodes_.insert(id).second) return;
    const Geometry geometry = snapshot_.geometry();
    for (Occupancy* view : {&snapshot_.now, &snapshot_.later})
        view->offer(geometry, id, nodes_.get(id)->allocatable, -1);
}

bool Cluster::put(Node fact) {
    const NodeId known = nodes_.find({}, fact.name);
    const Node* before = nodes_.get(known);
    // Heartbeats are most of what a watch on nodes says.
    if (before != nullptr && *before == fact) return false;
    const StringId name = fact.name;
    if (!built_) {
        nodes_.put({}, name, std::move(fact));
        return true;
    }
    const bool is_new = before == nullptr;
    const bool is_reshaped = !is_new && (before->labels != fact.labels || before->devices != fact.devices ||
                                         before->dialects != fact.dialects);
    if (!is_new) withdraw_offer(known);
    if (is_reshaped) {
        const std::vector<PodId> there = snapshot_.node_pods[known];
        for (PodId pod : there)
            touch(pod);
    }
    const NodeId id = nodes_.put({}, name, std::move(fact));
    if (is_new) open_node(id);
    if (is_new || is_reshaped) shape_node(id);
    if (is_new || is_reshaped) snapshot_.device_claims.pools.note_node(name);
    return true;
}

void Cluster::open_node(NodeId id) {
    snapshot_.nodes.resize(nodes_.slots());
    snapshot_.devices.resize(nodes_.slots());
    snapshot_.node_pods.resize(nodes_.slots());
    snapshot_.topology.set_node_count(nodes_.slots());
    snapshot_.domains.of_node.resize(nodes_.slots());
    snapshot_.nodes[id].alive = true;
    dirty_nodes_.insert(id);
    ranks_dirty_ = true;
    if (const auto waiting = adrift_.find(nodes_.get(id)->name); waiting != adrift_.end())
        touch_all(std::set<PodId>(waiting->second));
}

void Cluster::shape_node(NodeId id) {
    const Node& fact = *nodes_.get(id);
    snapshot_.devices[id] = fact.devices;
    for (TopologyKeyId key : IdRange<TopologyKeyId>(snapshot_.topology.key_count()))
        snapshot_.topology.set_node(key, id.index(), fact.labels.get(snapshot_.topology.label(key)));
    domains_dirty_ = domains_dirty_ || has_domains();
}

bool Cluster::drop(const Node& like) {
    const NodeId id = nodes_.find({}, like.name);
    if (!id) return false;
    if (built_) {
        withdraw_offer(id);
        dirty_nodes_.erase(id);
        const std::vector<PodId> there = snapshot_.node_pods[id];
        for (PodId pod : there)
            touch(pod);
        for (TopologyKeyId key : IdRange<TopologyKeyId>(snapshot_.topology.key_count()))
            snapshot_.topology.set_node(key, id.index(), {});
        snapshot_.nodes[id] = NodeRow();
        snapshot_.devices[id].clear();
        ranks_dirty_ = true;
        domains_dirty_ = domains_dirty_ || has_domains();
        snapshot_.device_claims.pools.gather(id, nullptr, words_);
    }
    nodes_.erase({}, like.name);
    return true;
}

bool Cluster::has_domains() const {
    return hyper_nodes_.size() > 0 || !options_.topology_levels.empty() || !domain_keys_.empty();
}

// A label that the first group wants to stay within, or that the last one does no more, is a family of domains.
void Cluster::count_domain_key(const std::optional<TopologyRule>& rule, int sign) {
    if (!rule || !rule->label_key) return;
    int& groups = domain_keys_[rule->label_key];
    groups += sign;
    domains_dirty_ = domains_dirty_ || groups == (sign > 0 ? 1 : 0);
    if (groups == 0) domain_keys_.erase(rule->label_key);
}

// Priorities, and what else a class says, of pods, gangs and composite groups.
void Cluster::touch_class(const PriorityClass& cls) {
    touch_where([&](PodId id) {
        const Pod& pod = pods_[id];
        return pod.priority_class == cls.name || (cls.global_default && !pod.priority_class && !pod.priority);
    });
    gangs_.for_each([&](GangId id, const Gang& gang) {
        if (gang.priority_class == cls.name) dirty_gangs_.push_back(id);
    });
    composites_.for_each([&](CompositeId, const CompositeGroup& group) {
        if (group.priority_class == cls.name) composites_dirty_ = true;
    });
}

bool Cluster::put(PriorityClass fact) {
    const PriorityClass* before = priority_class(fact.name);
    if (before != nullptr && *before == fact) return false;
    if (before != nullptr) touch_class(*before);
    touch_class(fact);
    const StringId name = fact.name;
    priority_classes_.put({}, name, std::move(fact));
    return true;
}

bool Cluster::drop(const PriorityClass& like) {
    const PriorityClass* before = priority_class(like.name);
    if (before == nullptr) return false;
    touch_class(*before);
    priority_classes_.erase({}, like.name);
    return true;
}

bool Cluster::put(Namespace fact) {
    const Namespace* before = namespaces_.get({}, fact.name);
    if (before != nullptr && *before == fact) return false;
    // Only rules that select namespaces by their labels depend on them.
    const bool matters = built_ && snapshot_.terms.asks_for_namespace_labels();
    const StringId name = fact.name;
    if (matters) touch_where([&](PodId id) { return pods_[id].ns == name; });
    namespace_labels_.set(name, fact.labels);
    namespaces_.put({}, name, std::move(fact));
    if (matters) match_namespace(name);
    return matters || !built_;
}

bool Cluster::drop(const Namespace& like) {
    const bool matters = built_ && snapshot_.terms.asks_for_namespace_labels();
    if (!namespaces_.erase({}, like.name)) return false;
    if (matters) touch_where([&](PodId id) { return pods_[id].ns == like.name; });
    namespace_labels_.erase(like.name);
    if (matters) match_namespace(like.name);
    return matters;
}

void Cluster::touch_members(StringId ns, StringId group) {
    const auto members = by_group_.find(name_key(ns, group));
    if (built_ && members != by_group_.end()) touch_all(members->second);
}

bool Cluster::put(Gang fact) {
    const Gang* before = gangs_.get(fact.ns, fact.name);
    if (before != nullptr && *before == fact) return false;
    const StringId ns = fact.ns;
    const StringId name = fact.name;
    touch_members(ns, name);
    count_domain_key(fact.topology, +1);
    if (before != nullptr) count_domain_key(before->topology, -1);
    const bool was_composed = before != nullptr && before->parent;
    const GangId id = gangs_.put(ns, name, std::move(fact));
    if (!built_) return true;
    const Gang* now = gangs_.get(id);
    snapshot_.gangs.resize(std::max(snapshot_.gangs.size(), gangs_.slots()));
    snapshot_.gangs[id] = {.fact = now, .ns = ns, .name = name, .alive = true};
    composites_dirty_ = composites_dirty_ || was_composed || now->parent;
    if (now->parent)
        composed_.insert(id);
    else
        composed_.erase(id);
    dirty_gangs_.push_back(id);
    return true;
}

bool Cluster::drop(const Gang& like) {
    const GangId id = gangs_.find(like.ns, like.name);
    const Gang* before = gangs_.get(id);
    if (before == nullptr) return false;
    touch_members(like.ns, like.name);
    count_domain_key(before->topology, -1);
    const bool was_composed = composed_.erase(id) > 0;
    composites_dirty_ = composites_dirty_ || was_composed;
    if (built_) snapshot_.gangs[id] = GangRow();
    gangs_.erase(like.ns, like.name);
    return true;
}

bool Cluster::put(CompositeGroup fact) {
    const CompositeGroup* before = composites_.get(fact.ns, fact.name);
    if (before != nullptr && *before == fact) return false;
    count_domain_key(fact.topology, +1);
    if (before != nullptr) count_domain_key(before->topology, -1);
    const StringId ns = fact.ns;
    const StringId name = fact.name;
    composites_.put(ns, name, std::move(fact));
    composites_dirty_ = true;
    return true;
}

bool Cluster::drop(const CompositeGroup& like) {
    const CompositeGroup* before = composites_.get(like.ns, like.name);
    if (before == nullptr) return false;
    count_domain_key(before->topology, -1);
    composites_.erase(like.ns, like.name);
    composites_dirty_ = true;
    return true;
}

bool Cluster::put(Queue fact) {
    const Queue* before = queues_.get(fact.ns, fact.name);
    if (before != nullptr && *before == fact) return false;
    const bool same_tree = before != nullptr && before->parent == fact.parent && before->is_quota == fact.is_quota &&
                           before->namespaces == fact.namespaces;
    const bool same_settings = before != nullptr && before->settings == fact.settings;
    const StringId ns = fact.ns;
    const StringId name = fact.name;
    const QueueId id = queues_.put(ns, name, std::move(fact));
    if (ns) quotas_by_name_[name].insert(id);
    if (!same_settings) queues_changed_.insert(id);
    if (!same_tree || !same_settings) {
        queues_dirty_ = true;
        quota_of_namespace_.clear();
    }
    return true;
}

bool Cluster::drop(const Queue& like) {
    const QueueId id = queues_.find(like.ns, like.name);
    if (queues_.get(id) == nullptr) return false;
    if (like.ns) count_in_quotas(like.name, id);
    if (id == default_queue_)
        queues_.clear(id);
    else
        queues_.erase(like.ns, like.name);
    queues_dirty_ = true;
    quota_of_namespace_.clear();
    return true;
}

void Cluster::count_in_quotas(StringId name, QueueId gone) {
    const auto found = quotas_by_name_.find(name);
    if (found == quotas_by_name_.end()) return;
    found->second.erase(gone);
    if (found->second.empty()) quotas_by_name_.erase(found);
}

bool Cluster::put(HyperNode fact) {
    const bool changed = hyper_nodes_.replace({}, std::move(fact));
    domains_dirty_ = domains_dirty_ || changed;
    return changed;
}

bool Cluster::drop(const HyperNode& like) {
    const bool changed = hyper_nodes_.erase({}, like.name);
    domains_dirty_ = domains_dirty_ || changed;
    return changed;
}

bool Cluster::put(DisruptionBudget fact) {
    const DisruptionBudget* before = budgets_.get(fact.ns, fact.name);
    if (before != nullptr && *before == fact) return false;
    const bool same_pods = before != nullptr && before->selector == fact.selector;
    const StringId ns = fact.ns;
    const StringId name = fact.name;
    const BudgetId id = budgets_.put(ns, name, std::move(fact));
    if (!built_) return true;
    snapshot_.budgets.resize(budgets_.slots());
    snapshot_.budgets[id].fact = budgets_.get(id);
    snapshot_.budgets[id].alive = true;
    if (!same_pods) match_budget(id);
    budgets_dirty_ = true;
    return true;
}

bool Cluster::drop(const DisruptionBudget& like) {
    const BudgetId id = budgets_.find(like.ns, like.name);
    if (!id) return false;
    budgets_.erase(like.ns, like.name);
    if (!built_) return true;
    snapshot_.budgets[id] = BudgetRow();
    match_budget(id);
    return true;
}

void Cluster::touch_claim(StringId ns, StringId claim) {
    if (!built_) return;
    const std::uint64_t key = name_key(ns, claim);
    if (const auto users = by_claim_.find(key); users != by_claim_.end()) touch_all(users->second);
    claims_touched_.insert(key);
}

bool Cluster::put(VolumeClaim fact) {
    const VolumeClaim* before = claims_.get(fact.ns, fact.name);
    if (before != nullptr && *before == fact) return false;
    const StringId ns = fact.ns;
    const StringId name = fact.name;
    touch_claim(ns, name);
    if (before != nullptr) note_volume(*before, false);
    const ClaimId id = claims_.put(ns, name, std::move(fact));
    note_volume(*claims_.get(id), true);
    return true;
}

void Cluster::note_volume(const VolumeClaim& claim, bool enter) {
    if (!claim.volume) return;
    std::set<ClaimId>& same = claims_by_volume_[claim.volume];
    const ClaimId id = claims_.find(claim.ns, claim.name);
    if (enter)
        same.insert(id);
    else
        same.erase(id);
    if (same.empty()) claims_by_volume_.erase(claim.volume);
}

bool Cluster::drop(const VolumeClaim& like) {
    const ClaimId id = claims_.find(like.ns, like.name);
    const VolumeClaim* before = claims_.get(id);
    if (before == nullptr) return false;
    touch_claim(like.ns, like.name);
    note_volume(*before, false);
    claims_.erase(like.ns, like.name);
    return true;
}

// Claims that are bound to a volume take its driver over; free volumes are kept in order.
bool Cluster::put(PersistentVolume fact) {
    const VolumeId known = volumes_.find({}, fact.name);
    const PersistentVolume* before = volumes_.get(known);
    if (before != nullptr && *before == fact) return false;
    const StringId name = fact.name;
    touch_volume(name);
    if (before != nullptr) rank_volume(known, false);
    rank_volume(volumes_.put({}, name, std::move(fact)), true);
    return true;
}

bool Cluster::drop(const PersistentVolume& like) {
    const VolumeId id = volumes_.find({}, like.name);
    if (!id) return false;
    touch_volume(like.name);
    rank_volume(id, false);
    volumes_.erase({}, like.name);
    return true;
}

void Cluster::touch_volume(StringId volume) {
    const auto bound = claims_by_volume_.find(volume);
    if (!built_ || bound == claims_by_volume_.end()) return;
    for (ClaimId claim : bound->second)
        touch_claim(claims_.get(claim)->ns, claims_.get(claim)->name);
}

// Which volumes are made, and when, for claims that have none.
void Cluster::touch_storage_class(const StorageClass& cls) {
    claims_.for_each([&](ClaimId, const VolumeClaim& claim) {
        const bool named = claim.storage_class_written ? claim.storage_class == cls.name : cls.is_default;
        if (named) touch_claim(claim.ns, claim.name);
    });
}

bool Cluster::put(StorageClass fact) {
    const StorageClass* before = storage_class(fact.name);
    if (before != nullptr && *before == fact) return false;
    if (before != nullptr) touch_storage_class(*before);
    touch_storage_class(fact);
    const StringId name = fact.name;
    storage_classes_.put({}, name, std::move(fact));
    return true;
}

bool Cluster::drop(const StorageClass& like) {
    const StorageClass* before = storage_class(like.name);
    if (before == nullptr) return false;
    touch_storage_class(*before);
    storage_classes_.erase({}, like.name);
    return true;
}

// Pods that serve, or do so no more.
void Cluster::touch_serving(StringId ns) {
    touch_where([&](PodId id) {
        const bool listed = snapshot_.pods.size() > id.index() && snapshot_.pods[id].has(kServing);
        return pods_[id].ns == ns && listed != serves(pods_[id]);
    });
}

bool Cluster::put(ServingDeployment fact) {
    const StringId ns = fact.ns;
    if (!servings_.replace(ns, std::move(fact))) return false;
    touch_serving(ns);
    return true;
}

bool Cluster::drop(const ServingDeployment& like) {
    if (!servings_.erase(like.ns, like.name)) return false;
    touch_serving(like.ns);
    return true;
}

// Workloads matter for serving alone, and most of them serve nobody.
bool Cluster::put(Workload fact) {
    const std::size_t at = workload_table(fact.kind);
    if (at == kNotKept) return false;
    const Workload* before = workloads_[at].get(fact.ns, fact.name);
    if (before != nullptr && *before == fact) return false;
    const bool same_members = before != nullptr && before->owner == fact.owner && before->labels == fact.labels &&
                              before->selector == fact.selector &&
                              before->desired_replicas.has_value() == fact.desired_replicas.has_value();
    const bool did_serve = before != nullptr && serving_of(*this, *before).valid();
    const StringId ns = fact.ns;
    const StringId name = fact.name;
    const WorkloadKind kind = fact.kind;
    const bool may_serve = fact.desired_replicas || serving_label(*this, fact.labels);
    const PlainId id = workloads_[at].put(ns, name, std::move(fact));
    if (may_serve)
        serving_workloads_.emplace(kind, id);
    else
        serving_workloads_.erase({kind, id});
    if (!serving_is_known() && !did_serve) return false;
    const std::size_t touched = dirty_pods_.size();
    if (!same_members) touch_serving(ns);
    return did_serve || serving_of(*this, *workloads_[at].get(id)).valid() || dirty_pods_.size() > touched;
}

bool Cluster::drop(const Workload& like) {
    const std::size_t at = workload_table(like.kind);
    if (at == kNotKept) return false;
    const PlainId id = workloads_[at].find(like.ns, like.name);
    if (!id) return false;
    const bool did_serve = serving_of(*this, *workloads_[at].get(id)).valid();
    const bool knew = serving_is_known();
    serving_workloads_.erase({like.kind, id});
    workloads_[at].erase(like.ns, like.name);
    const std::size_t touched = dirty_pods_.size();
    if (knew) touch_serving(like.ns);
    return did_serve || dirty_pods_.size() > touched;
}

// No row is worked out from these: they are asked for when a pod is placed.
bool Cluster::put(CsiNode fact) { return csi_nodes_.replace({}, std::move(fact)); }
bool Cluster::put(CsiDriver fact) { return csi_drivers_.replace({}, std::move(fact)); }
bool Cluster::put(CsiStorageCapacity fact) {
    const StringId ns = fact.ns;
    return csi_capacities_.replace(ns, std::move(fact));
}
bool Cluster::drop(const CsiNode& like) { return csi_nodes_.erase({}, like.name); }
bool Cluster::drop(const CsiDriver& like) { return csi_drivers_.erase({}, like.name); }
bool Cluster::drop(const CsiStorageCapacity& like) { return csi_capacities_.erase(like.ns, like.name); }

}  // namespace reprieve
