#include "state/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "base/check.h"
#include "base/hash.h"

namespace reprieve {
namespace {

struct Name {
    StringId ns;
    StringId name;
};

template <class T>
Name name_of(const T& fact, Vocabulary& words) {
    if constexpr (std::is_same_v<T, Workload>) {
        // Several kinds share the table; the kind is part of the name.
        return {fact.ns, words.string(fmt::format("{}/{}", static_cast<int>(fact.kind), words.text(fact.name)))};
    } else if constexpr (requires { fact.ns; } && !std::is_same_v<T, Queue>) {
        return {fact.ns, fact.name};
    } else {
        return {{}, fact.name};
    }
}

template <class T>
constexpr const char* kind_name() {
    if constexpr (std::is_same_v<T, Node>) return "Node";
    if constexpr (std::is_same_v<T, Pod>) return "Pod";
    if constexpr (std::is_same_v<T, PriorityClass>) return "PriorityClass";
    if constexpr (std::is_same_v<T, Namespace>) return "Namespace";
    if constexpr (std::is_same_v<T, Gang>) return "PodGroup";
    if constexpr (std::is_same_v<T, CompositeGroup>) return "CompositePodGroup";
    if constexpr (std::is_same_v<T, Queue>) return "Queue";
    if constexpr (std::is_same_v<T, HyperNode>) return "HyperNode";
    if constexpr (std::is_same_v<T, DisruptionBudget>) return "PodDisruptionBudget";
    if constexpr (std::is_same_v<T, Workload>) return "Workload";
    if constexpr (std::is_same_v<T, ServingDeployment>) return "ServingDeployment";
    if constexpr (std::is_same_v<T, PersistentVolume>) return "PersistentVolume";
    if constexpr (std::is_same_v<T, VolumeClaim>) return "PersistentVolumeClaim";
    if constexpr (std::is_same_v<T, StorageClass>) return "StorageClass";
    if constexpr (std::is_same_v<T, CsiNode>) return "CSINode";
    if constexpr (std::is_same_v<T, CsiDriver>) return "CSIDriver";
    if constexpr (std::is_same_v<T, CsiStorageCapacity>) return "CSIStorageCapacity";
    if constexpr (std::is_same_v<T, ResourceSlice>) return "ResourceSlice";
    if constexpr (std::is_same_v<T, DeviceClass>) return "DeviceClass";
    if constexpr (std::is_same_v<T, ResourceClaim>) return "ResourceClaim";
    if constexpr (std::is_same_v<T, ResourceClaimTemplate>) return "ResourceClaimTemplate";
    if constexpr (std::is_same_v<T, DeviceTaintRule>) return "DeviceTaintRule";
}

std::uint64_t pod_hash(StringId ns, std::string_view name) { return mix_hash(hash_bytes(name), ns.value()); }

template <class T>
std::uint64_t object_hash(const T& fact, Vocabulary& words) {
    const std::uint64_t kind = hash_bytes(kind_name<T>());
    if constexpr (std::is_same_v<T, Pod>) {
        return mix_hash(kind, pod_hash(fact.ns, fact.name));
    } else {
        const Name name = name_of(fact, words);
        return mix_hash(kind, std::uint64_t{name.ns.value()} << 32U | name.name.value());
    }
}

}  // namespace

Cluster::Cluster(ClusterOptions options) : options_(std::move(options)) {
    for (const std::string& name : options_.scheduler_names)
        scheduler_ids_.push_back(words_.string(name));
    snapshot_.facts = this;
    snapshot_.words = &words_;
}

template <class T>
auto& Cluster::table() {
    if constexpr (std::is_same_v<T, Node>)
        return nodes_;
    else if constexpr (std::is_same_v<T, PriorityClass>)
        return priority_classes_;
    else if constexpr (std::is_same_v<T, Namespace>)
        return namespaces_;
    else if constexpr (std::is_same_v<T, Gang>)
        return gangs_;
    else if constexpr (std::is_same_v<T, CompositeGroup>)
        return composites_;
    else if constexpr (std::is_same_v<T, Queue>)
        return queues_;
    else if constexpr (std::is_same_v<T, HyperNode>)
        return hyper_nodes_;
    else if constexpr (std::is_same_v<T, DisruptionBudget>)
        return budgets_;
    else if constexpr (std::is_same_v<T, Workload>)
        return workloads_;
    else if constexpr (std::is_same_v<T, ServingDeployment>)
        return servings_;
    else if constexpr (std::is_same_v<T, PersistentVolume>)
        return volumes_;
    else if constexpr (std::is_same_v<T, VolumeClaim>)
        return claims_;
    else if constexpr (std::is_same_v<T, StorageClass>)
        return storage_classes_;
    else if constexpr (std::is_same_v<T, CsiNode>)
        return csi_nodes_;
    else if constexpr (std::is_same_v<T, CsiDriver>)
        return csi_drivers_;
    else if constexpr (std::is_same_v<T, ResourceSlice>)
        return resource_slices_;
    else if constexpr (std::is_same_v<T, DeviceClass>)
        return device_classes_;
    else if constexpr (std::is_same_v<T, ResourceClaim>)
        return resource_claims_;
    else if constexpr (std::is_same_v<T, ResourceClaimTemplate>)
        return claim_templates_;
    else if constexpr (std::is_same_v<T, DeviceTaintRule>)
        return taint_rules_;
    else
        return csi_capacities_;
}

template <class T>
const T* Cluster::known(const T& like) const {
    auto& self = const_cast<Cluster&>(*this);
    const Name name = name_of(like, self.words_);
    auto& facts = self.table<T>();
    return facts.get(facts.find(name.ns, name.name));
}

const Pod* Cluster::known(const Pod& like) const {
    const PodId id = find_pod(like.ns, like.name);
    return id ? &pods_[id] : nullptr;
}

PodId Cluster::find_pod(StringId ns, std::string_view name) const {
    return pod_index_.find(pod_hash(ns, name), [&](PodId id) { return pods_[id].ns == ns && pods_[id].name == name; });
}

template <class T>
void Cluster::put(T fact) {
    if constexpr (std::is_same_v<T, Pod>) {
        PodId id = find_pod(fact.ns, fact.name);
        if (concerns_claims(fact) || (id && concerns_claims(pods_[id]))) structural_ = true;
        if (!id) {
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
            dirty_pods_.push_back(id);
            return;
        }
        if (!structural_) withdraw(id);
        pods_[id] = std::move(fact);
        dirty_pods_.push_back(id);
    } else {
        const Name name = name_of(fact, words_);
        // A budget whose rules stay only changes its allowance; a node or gang that is known is updated in place.
        if constexpr (std::is_same_v<T, DisruptionBudget>) {
            const DisruptionBudget* before = known(fact);
            if (!structural_ && before != nullptr && before->selector == fact.selector) {
                const BudgetId id = budgets_.put(name.ns, name.name, std::move(fact));
                compute_allowance(id);
                return;
            }
            structural_ = true;
            budgets_.put(name.ns, name.name, std::move(fact));
        } else if constexpr (std::is_same_v<T, Gang>) {
            const Gang* before = known(fact);
            if (before == nullptr || structural_) structural_ = true;
            const GangId id = gangs_.put(name.ns, name.name, std::move(fact));
            if (!structural_) dirty_gangs_.push_back(id);
        } else if constexpr (std::is_same_v<T, Node>) {
            const Node* before = known(fact);
            // Status updates that change nothing we use are the common case on a watch.
            if (before != nullptr && *before == fact) return;
            const bool same_shape =
                before != nullptr && before->labels == fact.labels && before->devices == fact.devices;
            if (!structural_ && same_shape) {
                const NodeId id = nodes_.find(name.ns, name.name);
                const Geometry geometry = snapshot_.geometry();
                for (Occupancy* view : {&snapshot_.now, &snapshot_.later})
                    view->offer(geometry, id, before->allocatable, -1);
                nodes_.put(name.ns, name.name, std::move(fact));
                dirty_nodes_.push_back(id);
                return;
            }
            structural_ = true;
            nodes_.put(name.ns, name.name, std::move(fact));
        } else if constexpr (std::is_same_v<T, CsiStorageCapacity>) {
            // They change with every volume made, and no row is worked out from them.
            csi_capacities_.put(name.ns, name.name, std::move(fact));
        } else {
            structural_ = true;
            table<T>().put(name.ns, name.name, std::move(fact));
        }
    }
}

template <class T>
void Cluster::drop(const T& like) {
    if constexpr (std::is_same_v<T, Pod>) {
        const PodId id = find_pod(like.ns, like.name);
        if (!id) return;
        if (concerns_claims(pods_[id])) structural_ = true;
        if (!structural_) withdraw(id);
        pod_index_.erase(pod_hash(like.ns, like.name), [&](PodId p) { return p == id; });
        pods_[id] = Pod();
        unused_pods_.push_back(id);
        std::erase(dirty_pods_, id);
    } else {
        const Name name = name_of(like, words_);
        if (table<T>().erase(name.ns, name.name)) structural_ = true;
    }
}

Result<void> Cluster::add(Object object, Digest digest) {
    return std::visit(
        [&]<class T>(T& fact) -> Result<void> {
            if (const T* before = known(fact)) {
                if (*before == fact) return {};
                const Name name = [&] {
                    if constexpr (std::is_same_v<T, Pod>)
                        return Name{fact.ns, words_.string(fact.name)};
                    else if constexpr (requires { fact.ns; })
                        return Name{fact.ns, fact.name};
                    else
                        return Name{{}, fact.name};
                }();
                const std::string slash = name.ns ? words_.str(name.ns) + "/" : "";
                return fail(fmt::format("{} {}{}: metadata.name: given twice, with different contents",
                                        kind_name<T>(),
                                        slash,
                                        words_.text(name.name)));
            }
            digests_.note(object_hash(fact, words_), digest);
            put(std::move(fact));
            return {};
        },
        object);
}

void Cluster::apply(Object object, Digest digest) {
    std::visit(
        [&]<class T>(T& fact) {
            digests_.note(object_hash(fact, words_), digest);
            put(std::move(fact));
        },
        object);
}

void Cluster::remove(const Object& like) {
    std::visit(
        [&]<class T>(const T& fact) {
            digests_.note(object_hash(fact, words_), {});
            drop(fact);
        },
        like);
}

Result<void> Cluster::refresh(Time now) {
    snapshot_.now_time = now;
    if (snapshot_.dims < words_.dimension_count()) structural_ = true;
    return structural_ ? rebuild() : update();
}

void Cluster::warn(const std::string& sentence) { ++warnings_[sentence]; }

std::vector<std::string> Cluster::warnings() const {
    std::vector<std::string> out;
    for (const auto& [sentence, count] : warnings_)
        out.push_back(count == 1 ? sentence : fmt::format("{} ({} times)", sentence, count));
    return out;
}

const PersistentVolume* Cluster::volume(StringId name) const { return volumes_.get(volumes_.find({}, name)); }
const StorageClass* Cluster::storage_class_of(const VolumeClaim& claim) const {
    return claim.storage_class_written ? storage_class(claim.storage_class) : default_storage_class();
}
const StorageClass* Cluster::storage_class(StringId name) const {
    return storage_classes_.get(storage_classes_.find({}, name));
}
const CsiDriver* Cluster::csi_driver(StringId name) const { return csi_drivers_.get(csi_drivers_.find({}, name)); }
const CsiNode* Cluster::csi_node(StringId name) const { return csi_nodes_.get(csi_nodes_.find({}, name)); }
const PriorityClass* Cluster::priority_class(StringId name) const {
    return priority_classes_.get(priority_classes_.find({}, name));
}

const StorageClass* Cluster::default_storage_class() const {
    const StorageClass* found = nullptr;
    for (PlainId id : IdRange<PlainId>(storage_classes_.slots())) {
        const StorageClass* c = storage_classes_.get(id);
        if (c == nullptr || !c->is_default) continue;
        if (found == nullptr || words_.text(c->name) < words_.text(found->name)) found = c;
    }
    return found;
}

}  // namespace reprieve
