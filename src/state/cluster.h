// Cluster: the facts we believe, and the Snapshot made from them.
//
// Facts come in by `add` (files: two facts that contradict each other are an error) or `apply` (a watch: the newest
// wins). The first `refresh` builds the Snapshot; every later one costs what changed since, for every kind of fact.
// Between two refreshes the Snapshot changes only by a Transaction that is rolled back in the end.
//
// How a changed fact is taken in: the pods that it speaks of are withdrawn from the sums as they were entered, the fact
// is replaced, and the pods are marked; `refresh` works out their rows again and enters them. Which pods those are is
// known from indexes (by group, by claim, by node) or, for kinds that change once in a while (priority classes, the
// tree of queues, labels of namespaces that rules select by), found by a look at every pod.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/flat_index.h"
#include "base/result.h"
#include "model/config.h"
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
    Trust trust{};
    // A controller makes the claims that templates ask for: a pod waits until it has them. Else, as with files, they
    // are thought of as made.
    bool claims_by_controller = false;
    // Device plugins of other schedulers hand out shares in their dialects, and would refuse whom we bind: such pods
    // wait.
    bool leaves_dialects = false;
};

class WordMarks;

class Cluster {
public:
    using PlainId = Id<struct PlainTag>;

    explicit Cluster(ClusterOptions options);
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    [[nodiscard]] Vocabulary& words() { return words_; }
    [[nodiscard]] const Vocabulary& words() const { return words_; }

    // From files. The error names the object; an identical second copy is no error.
    [[nodiscard]] Result<void> add(Object object, Digest digest = {});
    // From a watch. Whether anything that decisions depend on is different now.
    bool apply(Object object, Digest digest = {});
    // Forgets an object; `like` names kind, namespace and name (nothing else of it is read). True as above.
    bool remove(const Object& like);
    // Whether there is one of that kind, namespace and name. Of workloads that are not kept there is none.
    [[nodiscard]] bool has(const Object& like) const;
    [[nodiscard]] static bool keeps(WorkloadKind kind) { return workload_table(kind) != kNotKept; }

    [[nodiscard]] Result<void> refresh(Time now);
    [[nodiscard]] Snapshot& snapshot() { return snapshot_; }
    [[nodiscard]] const Snapshot& snapshot() const { return snapshot_; }
    // Whether there are many words that may be nobody's any more.
    [[nodiscard]] bool wants_sweep() const;
    // Forgets classes, terms and words that no fact names. `mark_more` marks the words that are named elsewhere; views
    // of texts must be asked for anew. REQUIRES: refreshed, and no transaction is open.
    void sweep(const std::function<void(WordMarks&)>& mark_more = {});
    // How often the Snapshot was built from nothing.
    [[nodiscard]] std::int64_t rebuilds() const { return rebuilds_; }
    [[nodiscard]] Digest digest() const { return digests_.total(); }
    // What was ignored or missing, a sentence each, sorted; counted where it happened often.
    [[nodiscard]] std::vector<std::string> warnings() const;

    [[nodiscard]] const Pod& pod(PodId id) const { return pods_[id]; }
    [[nodiscard]] std::size_t pod_slots() const { return pods_.size(); }
    [[nodiscard]] static std::uint64_t pod_hash(StringId ns, std::string_view name);
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
    // Null: not known. Kinds that no serving deployment is made of are not kept.
    [[nodiscard]] const Workload* workload(WorkloadKind kind, StringId ns, StringId name) const;
    // Those that serve, or may: by a label or by the number of replicas they want.
    [[nodiscard]] const std::set<std::pair<WorkloadKind, PlainId>>& serving_workloads() const {
        return serving_workloads_;
    }
    [[nodiscard]] const Workload* workload(const std::pair<WorkloadKind, PlainId>& id) const;
    [[nodiscard]] const auto& resource_slices() const { return resource_slices_; }
    [[nodiscard]] const auto& device_classes() const { return device_classes_; }
    [[nodiscard]] const auto& resource_claims() const { return resource_claims_; }
    [[nodiscard]] const auto& claim_templates() const { return claim_templates_; }
    [[nodiscard]] const auto& taint_rules() const { return taint_rules_; }
    [[nodiscard]] const auto& revisions() const { return workloads_[2]; }
    [[nodiscard]] const auto& servings() const { return servings_; }
    [[nodiscard]] const auto& budgets() const { return budgets_; }
    [[nodiscard]] const auto& gangs() const { return gangs_; }
    [[nodiscard]] const auto& queues() const { return queues_; }
    // The queue that somebody in this namespace means by a name: a quota there, a queue, or the only quota so called.
    [[nodiscard]] QueueId find_queue(StringId ns, StringId name) const;
    // Whether the pod is ours to place.
    [[nodiscard]] bool is_ours(const Pod& pod) const { return is_ours(words_.spec(pod.spec)); }
    // Why a pod that waits is not to be placed, whatever room there is; empty: nothing speaks against it.
    [[nodiscard]] std::string hold_of(PodId id) const;
    // What a pod with a deferred in-place resize asks for beyond what it holds.
    [[nodiscard]] std::vector<Resources::Amount> resize_delta(PodId id) const;
    // Pods that wait for a place and are ours, and running ones that wait for more room.
    [[nodiscard]] const std::set<PodId>& pending() const { return pending_; }
    [[nodiscard]] const std::set<PodId>& resizing() const { return resizing_; }
    // Pods that wait behind scheduling gates.
    [[nodiscard]] const std::set<PodId>& gated() const { return gated_; }
    // Pods that carry a claim of serving or a deletion cost.
    [[nodiscard]] const std::set<PodId>& marked() const { return marked_; }

private:
    // A tree of queues, before it becomes the Snapshot's.
    struct QueueTree {
        IdVector<QueueId, QueueRow> rows;
        IdVector<QueueId, std::vector<QueueId>> paths;
        std::vector<std::string> warnings;
    };
    template <class IdType>
    using PodsBy = std::unordered_map<IdType, std::set<PodId>>;

    // cluster.cc: facts in and out.
    template <class T>
    auto& table();
    template <class T>
    [[nodiscard]] const T* known(const T& like) const;
    [[nodiscard]] const Pod* known(const Pod& like) const;
    [[nodiscard]] const Workload* known(const Workload& like) const;

    // cluster_facts.cc: one fact in or out, and whom it touches. `put`: false if nothing is different.
    bool put(Pod fact);
    void distrust(Pod& pod) const;
    bool put(Node fact);
    bool put(PriorityClass fact);
    bool put(Namespace fact);
    bool put(Gang fact);
    bool put(CompositeGroup fact);
    bool put(Queue fact);
    bool put(HyperNode fact);
    bool put(DisruptionBudget fact);
    bool put(Workload fact);
    bool put(ServingDeployment fact);
    bool put(PersistentVolume fact);
    bool put(VolumeClaim fact);
    bool put(StorageClass fact);
    bool put(CsiNode fact);
    bool put(CsiDriver fact);
    bool put(CsiStorageCapacity fact);
    bool put(ResourceSlice fact);
    bool put(DeviceClass fact);
    bool put(ResourceClaim fact);
    bool put(ResourceClaimTemplate fact);
    bool put(DeviceTaintRule fact);
    bool drop(const Pod& like);
    bool drop(const Node& like);
    bool drop(const PriorityClass& like);
    bool drop(const Namespace& like);
    bool drop(const Gang& like);
    bool drop(const CompositeGroup& like);
    bool drop(const Queue& like);
    bool drop(const HyperNode& like);
    bool drop(const DisruptionBudget& like);
    bool drop(const Workload& like);
    bool drop(const ServingDeployment& like);
    bool drop(const PersistentVolume& like);
    bool drop(const VolumeClaim& like);
    bool drop(const StorageClass& like);
    bool drop(const CsiNode& like);
    bool drop(const CsiDriver& like);
    bool drop(const CsiStorageCapacity& like);
    bool drop(const ResourceSlice& like);
    bool drop(const DeviceClass& like);
    bool drop(const ResourceClaim& like);
    bool drop(const ResourceClaimTemplate& like);
    bool drop(const DeviceTaintRule& like);
    void touch_device_claims(bool changed) { device_claims_dirty_ = device_claims_dirty_ || changed; }

    // Takes the pod out of the sums and has the next refresh work it out again.
    void touch(PodId id);
    void touch_all(const std::set<PodId>& pods);
    template <class Wanted>
    void touch_where(Wanted wanted);
    void touch_members(StringId ns, StringId group);
    void touch_claim(StringId ns, StringId claim);
    void touch_volume(StringId volume);
    void note_volume(const VolumeClaim& claim, bool enter);
    void touch_storage_class(const StorageClass& cls);
    void count_in_quotas(StringId name, QueueId gone);
    void match_namespace(StringId ns);
    void touch_serving(StringId ns);
    void touch_class(const PriorityClass& cls);
    void index_pod(PodId id, bool enter);
    template <class Key>
    static void count_in(PodsBy<Key>& index, const Key& key, PodId id, bool enter) {
        if (enter) {
            index[key].insert(id);
            return;
        }
        const auto found = index.find(key);
        if (found == index.end()) return;
        found->second.erase(id);
        if (found->second.empty()) index.erase(found);
    }
    void open_node(NodeId id);
    void shape_node(NodeId id);
    void withdraw_offer(NodeId id);
    void rank_volume(VolumeId id, bool enter);
    void match_budget(BudgetId id);
    void count_domain_key(const std::optional<TopologyRule>& rule, int sign);
    [[nodiscard]] bool has_domains() const;
    [[nodiscard]] bool serving_is_known() const { return servings_.size() > 0 || !serving_workloads_.empty(); }
    static constexpr std::size_t kNotKept = static_cast<std::size_t>(-1);
    [[nodiscard]] static std::size_t workload_table(WorkloadKind kind);

    // cluster_rebuild.cc: everything from nothing.
    void rebuild();
    void rebuild_nodes();
    void rebuild_domains();
    [[nodiscard]] QueueTree build_queues();
    [[nodiscard]] StringId name_of_queue(const Queue& queue);
    void rebuild_composites();
    void rebuild_gangs();
    void join_composite(GangId id);
    void rebuild_budgets();
    [[nodiscard]] bool volume_before(VolumeId a, VolumeId b) const;
    void rebuild_volumes();

    // cluster_claims.cc: claims for devices.
    void clear_device_claims();
    void rebuild_device_classes();
    void rebuild_device_claims();
    void update_device_claims();
    void gather_pools();
    void enter_claim(PlainId slot);
    void enter_slice(PlainId slot);
    void withdraw_claim(PlainId slot);
    void withdraw_claims_of(PodId id);
    void withdraw_slice(PlainId slot);
    void touch_device_claim(PlainId slot);
    void join_books(DeviceClaimId id, int sign);
    void settle_claims_of(PodClass& cls) const;
    void index_claims(PodId id, bool enter);
    void index_consumers(PlainId slot, bool enter);
    [[nodiscard]] std::vector<const DeviceTaintRule*> taint_rules_by_name() const;
    [[nodiscard]] bool concerns_claims(const Pod& pod) const;
    // cluster_claim_users.cc: who wants and who keeps one.
    void resolve_claims(PodId id);
    void resolve_consumers(const ResourceClaim& fact, DeviceClaimId id);

    // cluster_update.cc: one thing at a time.
    void update();
    void fit_tables();
    void fit_views();
    void update_queues();
    void update_composites();
    void update_domains();
    void enter_dirty_pods();
    void forget_empty_gangs(const std::vector<GangId>& gangs);
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
    [[nodiscard]] QueueId queue_of(const Pod& pod,
                                   GangId gang,
                                   const IdVector<QueueId, QueueRow>& rows,
                                   bool& missing) const;
    [[nodiscard]] std::string hold_of(const Pod& pod, GangId gang) const;
    [[nodiscard]] QueueId quota_of_namespace(StringId ns) const;
    [[nodiscard]] bool quota_before(QueueId a, QueueId b) const;
    [[nodiscard]] std::uint16_t traits_of(PodId id, GangId gang, QueueId queue) const;
    [[nodiscard]] Duration min_runtime_of(const Pod& pod, GangId gang, QueueId queue) const;
    [[nodiscard]] const PriorityClass* class_of(const Pod& pod) const;
    [[nodiscard]] bool is_ours(const PodSpec& spec) const;
    [[nodiscard]] bool serves(const Pod& pod) const;
    [[nodiscard]] std::optional<std::int32_t> group_priority(const std::optional<std::int32_t>& value,
                                                             StringId cls) const;

    // cluster_sweep.cc: what nobody names any more.
    void forget_classes();
    void forget_terms();
    void mark_words(WordMarks& marks) const;

    // class_table.cc: classes of pods and the terms they bring.
    [[nodiscard]] static std::uint64_t class_hash(StringId ns, LabelsId labels, SpecId spec);
    ClassId class_for(const Pod& pod);
    ClassId make_class(StringId ns, LabelsId labels, SpecId spec);
    TermId term_for(TopologyKeyId key, std::vector<PodMatch> matches);
    TopologyKeyId topology_key(StringId label);
    void resolve_volumes(PodClass& cls) const;
    void match_terms(ClassId id);
    void fill_new_terms();

    ClusterOptions options_;
    Vocabulary words_;
    Snapshot snapshot_;
    DigestBook digests_;

    IdVector<PodId, Pod> pods_;
    FlatIndex<PodId> pod_index_;
    std::vector<PodId> unused_pods_;
    FactTable<NodeId, Node> nodes_;
    FactTable<PlainId, PriorityClass> priority_classes_;
    FactTable<PlainId, Namespace> namespaces_;
    FactTable<GangId, Gang> gangs_;
    FactTable<CompositeId, CompositeGroup> composites_;
    FactTable<QueueId, Queue> queues_;  // Queues by their name, ElasticQuotas by namespace and name; one tree
    std::unordered_map<StringId, std::set<QueueId>> quotas_by_name_;
    mutable std::unordered_map<StringId, QueueId> quota_of_namespace_;  // worked out since the queues changed
    FactTable<PlainId, HyperNode> hyper_nodes_;
    FactTable<BudgetId, DisruptionBudget> budgets_;
    std::array<FactTable<PlainId, Workload>, 4> workloads_;  // Deployments, ReplicaSets, Revisions, Knative Services
    std::set<std::pair<WorkloadKind, PlainId>> serving_workloads_;
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
    std::unordered_map<std::uint64_t, std::vector<ClassId>> classes_by_claim_;
    std::vector<ClassId> unused_classes_;
    std::size_t words_kept_ = 0;  // by the last sweep
    std::vector<TermId> new_terms_;
    QueueId default_queue_;
    std::set<PodId> pending_;
    std::set<PodId> resizing_;
    std::set<PodId> gated_;
    std::set<PodId> marked_;

    // Pods by what they name, whether it is there or not.
    PodsBy<std::uint64_t> by_group_;
    PodsBy<std::uint64_t> by_claim_;
    PodsBy<std::uint64_t> by_device_claim_;
    PodsBy<std::uint64_t> ungrouped_;  // of groups that do not exist
    PodsBy<StringId> adrift_;          // bound to nodes that do not exist
    std::unordered_map<StringId, std::set<ClaimId>> claims_by_volume_;
    std::unordered_map<std::uint64_t, std::set<PlainId>> claims_by_consumer_;  // by pod_hash
    std::vector<DeviceClaimId> claim_rows_;                                    // of ResourceClaims, by slot
    std::set<GangId> composed_;                                                // gangs that name a composite group
    std::map<StringId, int> domain_keys_;  // labels that groups want to stay within, and how many do
    std::vector<StringId> scheduler_ids_;

    // Sentences about facts, by what they are worked out from.
    std::vector<std::string> queue_warnings_;
    std::vector<std::string> composite_warnings_;
    std::vector<std::string> domain_warnings_;

    // What the next refresh has to look at.
    bool built_ = false;
    std::int64_t rebuilds_ = 0;
    std::vector<PodId> dirty_pods_;
    std::set<NodeId> dirty_nodes_;  // what they offer is not in the sums
    std::vector<GangId> dirty_gangs_;
    bool ranks_dirty_ = false;
    bool queues_dirty_ = false;
    std::set<QueueId> queues_changed_;  // with other settings for their pods
    bool composites_dirty_ = false;
    bool domains_dirty_ = false;
    bool budgets_dirty_ = false;
    bool device_claims_dirty_ = false;        // all of them
    std::set<PlainId> dirty_claims_;          // ResourceClaims that are not in the books
    std::set<PodId> dirty_claim_pods_;        // pods whose wants are not in the table
    std::set<std::uint64_t> claims_touched_;  // namespace and name
};

}  // namespace reprieve
