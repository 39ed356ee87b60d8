// Cluster: the Snapshot from nothing, after facts that many rows depend on have changed.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "state/cluster.h"

namespace reprieve {
namespace {

// Volumes that are looked for together: those of one claim, or those of one class without a claim.
struct VolumeGroup {
    StringId claim_ns;
    StringId claim;
    StringId storage_class;
    friend auto operator<=>(const VolumeGroup&, const VolumeGroup&) = default;
};

VolumeGroup group_of(const PersistentVolume& volume) {
    return {volume.claim_ns, volume.claim_name, volume.claim_name ? StringId() : volume.storage_class};
}

}  // namespace

Result<void> Cluster::rebuild() {
    Snapshot fresh;
    fresh.facts = this;
    fresh.words = &words_;
    fresh.now_time = snapshot_.now_time;
    fresh.dims = words_.dimension_count();
    snapshot_ = std::move(fresh);
    classes_by_hash_.clear();
    new_terms_.clear();
    gangs_by_name_.clear();
    warnings_.clear();
    pending_.clear();
    resizing_.clear();
    marked_.clear();
    dirty_pods_.clear();
    dirty_nodes_.clear();
    dirty_gangs_.clear();
    namespace_labels_ = {};
    for (PlainId id : IdRange<PlainId>(namespaces_.slots())) {
        if (const Namespace* n = namespaces_.get(id)) namespace_labels_.set(n->name, n->labels);
    }

    rebuild_nodes();
    if (auto done = rebuild_domains(); !done) return done;
    if (auto done = rebuild_queues(); !done) return done;
    if (auto done = rebuild_gangs(); !done) return done;
    snapshot_.claim_count = claims_.slots();
    rebuild_budgets();
    rebuild_volumes();
    rebuild_device_classes();

    // Classes first: every term is known before the first pod is counted.
    snapshot_.pods.resize(pods_.size());
    snapshot_.holds.resize(pods_.size());
    std::vector<ClassId> class_of_pod(pods_.size());
    for (PodId id : IdRange<PodId>(pods_.size())) {
        if (pods_[id].ns) class_of_pod[id.index()] = class_for(pods_[id]);
    }
    for (ClassId id : IdRange<ClassId>(snapshot_.classes.size()))
        match_terms(id);
    new_terms_.clear();

    const Geometry geometry = snapshot_.geometry();
    for (Occupancy* view : {&snapshot_.now, &snapshot_.later}) {
        view->resize(geometry,
                     snapshot_.nodes.size(),
                     snapshot_.queues.size(),
                     snapshot_.domains.domains.size(),
                     snapshot_.claim_count);
        for (NodeId node : IdRange<NodeId>(nodes_.slots())) {
            if (const Node* fact = nodes_.get(node)) view->offer(geometry, node, fact->allocatable, +1);
        }
    }
    for (PodId id : IdRange<PodId>(pods_.size())) {
        if (!pods_[id].ns) continue;
        resolve_pod(id);
        if (GangId gang = snapshot_.pods[id].gang) snapshot_.gangs[gang].pods.push_back(id);
    }
    for (GangId gang : IdRange<GangId>(snapshot_.gangs.size())) {
        std::ranges::sort(snapshot_.gangs[gang].pods, [&](PodId a, PodId b) { return snapshot_.name_less(a, b); });
        resolve_gang(gang);
    }
    for (PodId id : IdRange<PodId>(pods_.size())) {
        if (pods_[id].ns) introduce(id);
    }
    for (NodeId node : IdRange<NodeId>(nodes_.slots()))
        assign_devices(node);
    rebuild_device_claims();
    for (BudgetId id : IdRange<BudgetId>(budgets_.slots()))
        compute_allowance(id);
    structural_ = false;
    return {};
}

void Cluster::rebuild_nodes() {
    snapshot_.nodes.resize(nodes_.slots());
    snapshot_.devices.resize(nodes_.slots());
    snapshot_.node_pods.resize(nodes_.slots());
    snapshot_.topology.set_node_count(nodes_.slots());
    for (NodeId id : IdRange<NodeId>(nodes_.slots())) {
        const Node* fact = nodes_.get(id);
        snapshot_.nodes[id] = {.alive = fact != nullptr, .ready = fact != nullptr && fact->ready, .rank = 0};
        if (fact != nullptr) snapshot_.devices[id] = fact->devices;
    }
    rank_nodes();
}

void Cluster::rank_nodes() {
    snapshot_.nodes_by_name.clear();
    for (NodeId id : IdRange<NodeId>(nodes_.slots())) {
        if (snapshot_.nodes[id].alive) snapshot_.nodes_by_name.push_back(id);
    }
    std::ranges::sort(snapshot_.nodes_by_name, {}, [&](NodeId id) { return words_.text(nodes_.get(id)->name); });
    for (std::uint32_t rank = 0; rank < snapshot_.nodes_by_name.size(); ++rank)
        snapshot_.nodes[snapshot_.nodes_by_name[rank]].rank = rank;
}

Result<void> Cluster::rebuild_domains() {
    DomainInput input;
    for (PlainId id : IdRange<PlainId>(hyper_nodes_.slots())) {
        if (const HyperNode* h = hyper_nodes_.get(id)) input.hyper_nodes.push_back(h);
    }
    std::ranges::sort(input.hyper_nodes, {}, [&](const HyperNode* h) { return words_.text(h->name); });
    for (NodeId id : IdRange<NodeId>(nodes_.slots()))
        input.nodes.push_back(nodes_.get(id));
    for (const std::string& level : options_.topology_levels)
        input.label_levels.push_back(words_.string(level));
    const auto name_key_of = [&](const std::optional<TopologyRule>& rule) {
        if (rule && rule->label_key && std::ranges::find(input.label_keys, rule->label_key) == input.label_keys.end())
            input.label_keys.push_back(rule->label_key);
    };
    for (GangId id : IdRange<GangId>(gangs_.slots())) {
        if (const Gang* g = gangs_.get(id)) name_key_of(g->topology);
    }
    for (CompositeId id : IdRange<CompositeId>(composites_.slots())) {
        if (const CompositeGroup* c = composites_.get(id)) name_key_of(c->topology);
    }
    std::ranges::sort(input.label_keys, {}, [&](StringId key) { return words_.text(key); });
    std::vector<std::string> warnings;
    auto table = build_domains(input, words_, warnings);
    if (!table) return std::unexpected(table.error());
    for (const std::string& w : warnings)
        warn(w);
    snapshot_.domains = std::move(*table);
    return {};
}

Result<void> Cluster::rebuild_queues() {
    const StringId default_name = words_.string("default");
    snapshot_.queues.resize(queues_.slots());
    for (QueueId id : IdRange<QueueId>(queues_.slots())) {
        if (const Queue* fact = queues_.get(id))
            snapshot_.queues[id] = {.fact = fact, .name = fact->name, .parent = {}, .children = {}, .alive = true};
    }
    default_queue_ = queues_.find({}, default_name);
    if (!default_queue_) {
        default_queue_ = snapshot_.queues.push_back(
            {.fact = nullptr, .name = default_name, .parent = {}, .children = {}, .alive = true});
    }
    for (QueueId id : IdRange<QueueId>(snapshot_.queues.size())) {
        QueueRow& row = snapshot_.queues[id];
        if (row.fact == nullptr || !row.fact->parent) continue;
        const std::string_view p = words_.text(row.fact->parent);
        // Koordinator writes an object for the root, too; the chain ends below it all the same.
        if (p == "koordinator-root-quota") continue;
        row.parent = queues_.find({}, row.fact->parent);
        if (row.parent) {
            snapshot_.queues[row.parent].children.push_back(id);
        } else if (p != "root" && !p.empty()) {
            warn(fmt::format("Queue {}: parent {} does not exist", words_.text(row.name), p));
        }
    }
    snapshot_.queue_path.resize(snapshot_.queues.size());
    for (QueueId id : IdRange<QueueId>(snapshot_.queues.size())) {
        std::vector<QueueId>& path = snapshot_.queue_path[id];
        for (QueueId at = id; at; at = snapshot_.queues[at].parent) {
            if (std::ranges::find(path, at) != path.end()) {
                return fail(fmt::format("Queue {}: spec.parent: the chain of parents comes back to {}",
                                        words_.text(snapshot_.queues[id].name),
                                        words_.text(snapshot_.queues[at].name)));
            }
            path.push_back(at);
        }
        std::ranges::sort(
            snapshot_.queues[id].children, {}, [&](QueueId q) { return words_.text(snapshot_.queues[q].name); });
    }
    return {};
}

Result<void> Cluster::rebuild_gangs() {
    snapshot_.composites.resize(composites_.slots());
    for (CompositeId id : IdRange<CompositeId>(composites_.slots()))
        snapshot_.composites[id].fact = composites_.get(id);
    for (CompositeId id : IdRange<CompositeId>(composites_.slots())) {
        const CompositeGroup* fact = composites_.get(id);
        if (fact == nullptr || !fact->parent) continue;
        snapshot_.composites[id].parent = composites_.find(fact->ns, fact->parent);
        if (!snapshot_.composites[id].parent)
            warn(fmt::format(
                "CompositePodGroup {}/{} does not exist", words_.text(fact->ns), words_.text(fact->parent)));
    }
    for (CompositeId id : IdRange<CompositeId>(composites_.slots())) {
        std::size_t steps = 0;
        for (CompositeId at = id; at; at = snapshot_.composites[at].parent) {
            if (++steps > composites_.slots()) {
                return fail(fmt::format(
                    "CompositePodGroup {}/{}: spec.parentCompositePodGroupName: the chain of parents has a cycle",
                    words_.text(composites_.get(id)->ns),
                    words_.text(composites_.get(id)->name)));
            }
        }
    }
    snapshot_.gangs.resize(gangs_.slots());
    for (GangId id : IdRange<GangId>(gangs_.slots())) {
        const Gang* fact = gangs_.get(id);
        if (fact == nullptr) continue;
        GangRow& row = snapshot_.gangs[id];
        row.fact = fact;
        row.ns = fact->ns;
        row.name = fact->name;
        row.alive = true;
        gangs_by_name_[name_key(fact->ns, fact->name)] = id;
        if (!fact->parent) continue;
        row.composite = composites_.find(fact->ns, fact->parent);
        if (!row.composite)
            warn(fmt::format(
                "CompositePodGroup {}/{} does not exist", words_.text(fact->ns), words_.text(fact->parent)));
        for (CompositeId c = row.composite; c; c = snapshot_.composites[c].parent)
            snapshot_.composites[c].gangs.push_back(id);
    }
    return {};
}

void Cluster::rebuild_volumes() {
    volumes_by_size_.clear();
    for (VolumeId id : IdRange<VolumeId>(volumes_.slots())) {
        const PersistentVolume* fact = volumes_.get(id);
        if (fact != nullptr && !fact->deleting) volumes_by_size_.push_back(id);
    }
    std::ranges::sort(volumes_by_size_, [&](VolumeId a, VolumeId b) {
        const PersistentVolume& x = *volumes_.get(a);
        const PersistentVolume& y = *volumes_.get(b);
        if (group_of(x) != group_of(y)) return group_of(x) < group_of(y);
        if (x.capacity != y.capacity) return x.capacity < y.capacity;
        return words_.text(x.name) < words_.text(y.name);
    });
}

std::span<const VolumeId> Cluster::free_volumes(StringId storage_class) const {
    return std::ranges::equal_range(volumes_by_size_, VolumeGroup{{}, {}, storage_class}, {}, [&](VolumeId id) {
        return group_of(*volumes_.get(id));
    });
}

std::span<const VolumeId> Cluster::reserved_volumes(const VolumeClaim& claim) const {
    return std::ranges::equal_range(volumes_by_size_, VolumeGroup{claim.ns, claim.name, {}}, {}, [&](VolumeId id) {
        return group_of(*volumes_.get(id));
    });
}

void Cluster::rebuild_budgets() {
    snapshot_.budgets.resize(budgets_.slots());
    for (BudgetId id : IdRange<BudgetId>(budgets_.slots())) {
        snapshot_.budgets[id].fact = budgets_.get(id);
        snapshot_.budgets[id].alive = budgets_.get(id) != nullptr;
    }
}

}  // namespace reprieve
