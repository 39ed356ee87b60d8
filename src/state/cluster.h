// Cluster: the facts we believe, and the Snapshot made from them.
//
// Facts come in by `add` (files: two facts that contradict each other are an error) or `apply` (a watch: the newest
// wins). `refresh` brings the Snapshot up to date; pods, nodes and gangs cost what changed, rarer kinds rebuild it.
// Between two refreshes the Snapshot changes only by a Transaction that is rolled back in the end.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/flat_index.h"
#include "base/result.h"
#include "model/objects.h"
#include "model/vocabulary.h"
#include "state/digest_book.h"
#include "state/fact_table.h"
#include "state/ids.h"
#include "state/snapshot.h"

namespace reprieve {

struct ClusterOptions {
    std::vector<std::string> scheduler_names;  // empty: every pod is ours
    std::vector<std::string> topology_levels;
    bool queues_by_namespace = false;  // a pod that names no queue is in the one called like its namespace
};

class Cluster {
public:
    explicit Cluster(ClusterOptions options);
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    [[nodiscard]] Vocabulary& words() { return words_; }
    [[nodiscard]] const Vocabulary& words() const { return words_; }

    // From files. The error names the object; an identical second copy is no error.
    [[nodiscard]] Result<void> add(Object object, Digest digest = {});
    // From a watch.
    void apply(Object object, Digest digest = {});
    // Forgets an object; `like` names kind, namespace and name (nothing else of it is read).
    void remove(const Object& like);

    [[nodiscard]] Result<void> refresh(Time now);
    [[nodiscard]] Snapshot& snapshot() { return snapshot_; }
    [[nodiscard]] const Snapshot& snapshot() const { return snapshot_; }
    [[nodiscard]] Digest digest() const { return digests_.total(); }
    // What was ignored or missing, a sentence each, sorted; counted where it happened often.
    [[nodiscard]] std::vector<std::string> warnings() const;

    [[nodiscard]] const Pod& pod(PodId id) const { return pods_[id]; }
    [[nodiscard]] std::size_t pod_slots() const { return pods_.size(); }
    [[nodiscard]] PodId find_pod(StringId ns, std::string_view name) const;
    [[nodiscard]] const Node* node(NodeId id) const { return nodes_.get(id); }
    [[nodiscard]] NodeId find_node(StringId name) const { return nodes_.find({}, name); }
    [[nodiscard]] const VolumeClaim* claim(ClaimId id) const { return claims_.get(id); }
    [[nodiscard]] const PersistentVolume* volume(StringId name) const;
    // Volumes without a claim, smallest first, then by name. Those that are being deleted are no choice.
    [[nodiscard]] std::span<const VolumeId> free_volumes(StringId storage_class) const;
    // Volumes that name this claim as theirs, in the same order.
    [[nodiscard]] std::span<const VolumeId> reserved_volumes(const VolumeClaim& claim) const;
    // What the claim asks to be provisioned from; null: there is no such class.
    [[nodiscard]] const StorageClass* storage_class_of(const VolumeClaim& claim) const;
    [[nodiscard]] const StorageClass* storage_class(StringId name) const;
    [[nodiscard]] const StorageClass* default_storage_class() const;
    [[nodiscard]] const CsiNode* csi_node(StringId name) const;
    [[nodiscard]] const CsiDriver* csi_driver(StringId name) const;
    [[nodiscard]] const PriorityClass* priority_class(StringId name) const;
    // The class of pods that name none; null: there is no global default.
    [[nodiscard]] const PriorityClass* default_priority_class() const;
    [[nodiscard]] const auto& namespaces() const { return namespaces_; }
    [[nodiscard]] const auto& priority_classes() const { return priority_classes_; }
    [[nodiscard]] const auto& claims() const { return claims_; }
    [[nodiscard]] const auto& volumes() const { return volumes_; }
    [[nodiscard]] const auto& csi_capacities() const { return csi_capacities_; }
    [[nodiscard]] const auto& resource_slices() const { return resource_slices_; }
    [[nodiscard]] const auto& device_classes() const { return device_classes_; }
    [[nodiscard]] const auto& resource_claims() const { return resource_claims_; }
    [[nodiscard]] const auto& claim_templates() const { return claim_templates_; }
    [[nodiscard]] const auto& taint_rules() const { return taint_rules_; }
    [[nodiscard]] const auto& workloads() const { return workloads_; }
    [[nodiscard]] const auto& servings() const { return servings_; }
    [[nodiscard]] const auto& budgets() const { return budgets_; }
    [[nodiscard]] const auto& gangs() const { return gangs_; }
    [[nodiscard]] const auto& queues() const { return queues_; }
    // What a pod with a deferred in-place resize asks for beyond what it holds.
    [[nodiscard]] std::vector<Resources::Amount> resize_delta(PodId id) const;
    // Pods that wait for a place and are ours, and running ones that wait for more room.
    [[nodiscard]] const std::set<PodId>& pending() const { return pending_; }
    [[nodiscard]] const std::set<PodId>& resizing() const { return resizing_; }
    // Pods that carry a claim of serving or a deletion cost.
    [[nodiscard]] const std::set<PodId>& marked() const { return marked_; }

private:
    using PlainId = Id<struct PlainTag>;

    // cluster.cc: facts in and out.
    template <class T>
    auto& table();
    template <class T>
    [[nodiscard]] const T* known(const T& like) const;
    [[nodiscard]] const Pod* known(const Pod& like) const;
    template <class T>
    void put(T fact);
    template <class T>
    void drop(const T& like);
    void warn(const std::string& sentence);

    // cluster_rebuild.cc: everything from nothing.
    [[nodiscard]] Result<void> rebuild();
    void rebuild_nodes();
    [[nodiscard]] Result<void> rebuild_domains();
    [[nodiscard]] Result<void> rebuild_queues();
    [[nodiscard]] Result<void> rebuild_gangs();
    void rebuild_budgets();
    void rebuild_volumes();

    // cluster_claims.cc: claims for devices.
    void rebuild_device_classes();
    void rebuild_device_pools();
    void rebuild_device_claims();
    void resolve_claims(PodId id, const std::vector<DeviceClaimId>& id_of);
    void resolve_consumers(const ResourceClaim& fact, DeviceClaimId id);
    [[nodiscard]] bool concerns_claims(const Pod& pod) const;

    // cluster_update.cc: one thing at a time.
    [[nodiscard]] Result<void> update();
    void rank_nodes();
    void withdraw(PodId id);
    void introduce(PodId id);
    void occupy(PodId id, int sign);
    void update_node(NodeId id);
    void assign_devices(NodeId id);
    void compute_allowance(BudgetId id);

    // cluster_resolve.cc: what follows from several facts.
    void resolve_pod(PodId id);
    void resolve_gang(GangId id);
    [[nodiscard]] std::int32_t priority_of(const Pod& pod) const;
    [[nodiscard]] GangId gang_of(PodId id);
    [[nodiscard]] QueueId queue_of(const Pod& pod, GangId gang, bool& missing);
    [[nodiscard]] StringId quota_of_namespace(StringId ns) const;
    [[nodiscard]] std::uint16_t traits_of(PodId id, GangId gang, QueueId queue) const;
    [[nodiscard]] Duration min_runtime_of(const Pod& pod, GangId gang, QueueId queue) const;
    [[nodiscard]] const PriorityClass* class_of(const Pod& pod) const;
    [[nodiscard]] bool is_ours(const PodSpec& spec) const;
    [[nodiscard]] bool serves(const Pod& pod) const;
    [[nodiscard]] std::optional<std::int32_t> group_priority(const std::optional<std::int32_t>& value,
                                                             StringId cls) const;

    // class_table.cc: classes of pods and the terms they bring.
    ClassId class_for(const Pod& pod);
    ClassId make_class(StringId ns, LabelsId labels, SpecId spec);
    TermId term_for(TopologyKeyId key, std::vector<PodMatch> matches);
    TopologyKeyId topology_key(StringId label);
    void resolve_volumes(PodClass& cls) const;
    void match_terms(ClassId id);
    void fill_new_terms();

    ClusterOptions options_;
    std::vector<StringId> scheduler_ids_;
    Vocabulary words_;
    Snapshot snapshot_;
    std::map<std::string, std::int64_t> warnings_;
    DigestBook digests_;

    IdVector<PodId, Pod> pods_;
    FlatIndex<PodId> pod_index_;
    std::vector<PodId> unused_pods_;
    FactTable<NodeId, Node> nodes_;
    FactTable<PlainId, PriorityClass> priority_classes_;
    FactTable<PlainId, Namespace> namespaces_;
    FactTable<GangId, Gang> gangs_;
    FactTable<CompositeId, CompositeGroup> composites_;
    FactTable<QueueId, Queue> queues_;  // bare names: Queue and ElasticQuota share one tree
    FactTable<PlainId, HyperNode> hyper_nodes_;
    FactTable<BudgetId, DisruptionBudget> budgets_;
    FactTable<PlainId, Workload> workloads_;
    FactTable<PlainId, ServingDeployment> servings_;
    FactTable<VolumeId, PersistentVolume> volumes_;
    std::vector<VolumeId> volumes_by_size_;  // by claim or else storage class, then capacity and name
    FactTable<ClaimId, VolumeClaim> claims_;
    FactTable<PlainId, StorageClass> storage_classes_;
    FactTable<PlainId, CsiNode> csi_nodes_;
    FactTable<PlainId, CsiDriver> csi_drivers_;
    FactTable<PlainId, CsiStorageCapacity> csi_capacities_;
    FactTable<PlainId, ResourceSlice> resource_slices_;
    FactTable<PlainId, DeviceClass> device_classes_;
    FactTable<PlainId, ResourceClaim> resource_claims_;
    FactTable<PlainId, ResourceClaimTemplate> claim_templates_;
    FactTable<PlainId, DeviceTaintRule> taint_rules_;

    NamespaceLabels namespace_labels_;
    std::unordered_map<std::uint64_t, std::vector<ClassId>> classes_by_hash_;
    std::vector<TermId> new_terms_;
    std::unordered_map<std::uint64_t, GangId> gangs_by_name_;  // also those known only from their pods
    QueueId default_queue_;
    std::set<PodId> pending_;
    std::set<PodId> resizing_;
    std::set<PodId> marked_;

    bool structural_ = true;
    std::vector<PodId> dirty_pods_;
    std::vector<NodeId> dirty_nodes_;
    std::vector<GangId> dirty_gangs_;
};

}  // namespace reprieve
