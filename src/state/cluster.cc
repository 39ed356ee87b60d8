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
Name name_of(const T& fact) {
    if constexpr (requires { fact.ns; }) {
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

template <class T>
std::uint64_t object_hash(const T& fact) {
    std::uint64_t kind = hash_bytes(kind_name<T>());
    if constexpr (std::is_same_v<T, Workload>) kind = mix_hash(kind, static_cast<std::uint64_t>(fact.kind));
    if constexpr (std::is_same_v<T, Pod>) {
        return mix_hash(kind, mix_hash(hash_bytes(fact.name), fact.ns.value()));
    } else {
        const Name name = name_of(fact);
        return mix_hash(kind, std::uint64_t{name.ns.value()} << 32U | name.name.value());
    }
}

}  // namespace

Cluster::Cluster(ClusterOptions options) : options_(std::move(options)) {
    for (const std::string& name : options_.scheduler_names)
        scheduler_ids_.push_back(words_.string(name));
    snapshot_.facts = this;
    snapshot_.words = &words_;
    default_queue_ = queues_.reserve({}, words_.string("default"));
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
    const Name name = name_of(like);
    return const_cast<Cluster&>(*this).table<T>().get(name.ns, name.name);
}

const Workload* Cluster::known(const Workload& like) const { return workload(like.kind, like.ns, like.name); }

const Pod* Cluster::known(const Pod& like) const {
    const PodId id = find_pod(like.ns, like.name);
    return id ? &pods_[id] : nullptr;
}

std::uint64_t Cluster::pod_hash(StringId ns, std::string_view name) { return mix_hash(hash_bytes(name), ns.value()); }

PodId Cluster::find_pod(StringId ns, std::string_view name) const {
    return pod_index_.find(pod_hash(ns, name), [&](PodId id) { return pods_[id].ns == ns && pods_[id].name == name; });
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
            digests_.note(object_hash(fact), digest);
            put(std::move(fact));
            return {};
        },
        object);
}

bool Cluster::apply(Object object, Digest digest) {
    return std::visit(
        [&]<class T>(T& fact) {
            digests_.note(object_hash(fact), digest);
            return put(std::move(fact));
        },
        object);
}

bool Cluster::remove(const Object& like) {
    return std::visit(
        [&]<class T>(const T& fact) {
            digests_.note(object_hash(fact), {});
            return drop(fact);
        },
        like);
}

bool Cluster::has(const Object& like) const {
    return std::visit([this](const auto& fact) { return known(fact) != nullptr; }, like);
}

Result<void> Cluster::refresh(Time now) {
    snapshot_.now_time = now;
    if (built_)
        update();
    else
        rebuild();
    return {};
}

std::vector<std::string> Cluster::warnings() const {
    std::map<std::string, std::size_t> counted;
    for (const auto* part : {&queue_warnings_, &composite_warnings_, &domain_warnings_}) {
        for (const std::string& sentence : *part)
            ++counted[sentence];
    }
    for (const auto& [node, pods] : adrift_) {
        counted[fmt::format("Node {} does not exist; pods bound to it count only for their queues and gangs",
                            words_.text(node))] += pods.size();
    }
    for (const auto& [key, pods] : ungrouped_) {
        const Pod& pod = pods_[*pods.begin()];
        counted[fmt::format("PodGroup {}/{} does not exist; its pods wait, and those that run count as single pods",
                            words_.text(pod.ns),
                            words_.text(pod.group))] += pods.size();
    }
    std::vector<std::string> out;
    for (const auto& [sentence, count] : counted)
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

std::size_t Cluster::workload_table(WorkloadKind kind) {
    switch (kind) {
        case WorkloadKind::kDeployment:
            return 0;
        case WorkloadKind::kReplicaSet:
            return 1;
        case WorkloadKind::kRevision:
            return 2;
        case WorkloadKind::kKnativeService:
            return 3;
        default:
            return kNotKept;
    }
}

const Workload* Cluster::workload(WorkloadKind kind, StringId ns, StringId name) const {
    const std::size_t at = workload_table(kind);
    return at == kNotKept ? nullptr : workloads_[at].get(ns, name);
}

const Workload* Cluster::workload(const std::pair<WorkloadKind, PlainId>& id) const {
    return workloads_[workload_table(id.first)].get(id.second);
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
