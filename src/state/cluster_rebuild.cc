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

// For each of `count` objects whether the chain of its parents never ends.
template <class ParentOf>
std::vector<bool> leads_into_circle(std::size_t count, ParentOf parent_of) {
    std::vector<bool> out(count);
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t steps = 0;
        auto at = parent_of(i);
        while (at && ++steps <= count)
            at = parent_of(at.index());
        out[i] = at.valid();
    }
    return out;
}

}  // namespace

void Cluster::rebuild() {
    ++rebuilds_;
    Snapshot fresh;
    fresh.facts = this;
    fresh.words = &words_;
    fresh.now_time = snapshot_.now_time;
    fresh.dims = words_.dimension_count();
    snapshot_ = std::move(fresh);

    rebuild_nodes();
    rebuild_domains();
    QueueTree tree = build_queues();
    snapshot_.queues = std::move(tree.rows);
    snapshot_.queue_path = std::move(tree.paths);
    queue_warnings_ = std::move(tree.warnings);
    rebuild_composites();
    rebuild_gangs();
    rebuild_budgets();
    rebuild_volumes();
    clear_device_claims();

    // Classes first: every term is known before the first pod is counted.
    for (PodId id : IdRange<PodId>(pods_.size())) {
        if (pods_[id].ns) static_cast<void>(class_for(pods_[id]));
    }
    for (ClassId id : IdRange<ClassId>(snapshot_.classes.size()))
        match_terms(id);
    new_terms_.clear();

    fit_tables();
    const Geometry geometry = snapshot_.geometry();
    for (Occupancy* view : {&snapshot_.now, &snapshot_.later}) {
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
    dirty_pods_.clear();
    dirty_nodes_.clear();
    dirty_gangs_.clear();
    claims_touched_.clear();
    queues_changed_.clear();
    queues_dirty_ = composites_dirty_ = domains_dirty_ = budgets_dirty_ = ranks_dirty_ = false;
    device_claims_dirty_ = false;
    built_ = true;
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

void Cluster::rebuild_domains() {
    DomainInput input;
    for (PlainId id : IdRange<PlainId>(hyper_nodes_.slots())) {
        if (const HyperNode* h = hyper_nodes_.get(id)) input.hyper_nodes.push_back(h);
    }
    std::ranges::sort(input.hyper_nodes, {}, [&](const HyperNode* h) { return words_.text(h->name); });
    for (NodeId id : IdRange<NodeId>(nodes_.slots()))
        input.nodes.push_back(nodes_.get(id));
    for (const std::string& level : options_.topology_levels)
        input.label_levels.push_back(words_.string(level));
    for (const auto& [key, groups] : domain_keys_)
        input.label_keys.push_back(key);
    std::ranges::sort(input.label_keys, {}, [&](StringId key) { return words_.text(key); });
    domain_warnings_.clear();
    snapshot_.domains = build_domains(input, words_, domain_warnings_);
}

// What people call it: its name, with the namespace where another queue or quota has the same one.
StringId Cluster::name_of_queue(const Queue& queue) {
    const auto same = quotas_by_name_.find(queue.name);
    const bool alone =
        same == quotas_by_name_.end() || (same->second.size() == 1 && queues_.get({}, queue.name) == nullptr);
    if (alone || !queue.ns) return queue.name;
    return words_.string(fmt::format("{}/{}", words_.text(queue.ns), words_.text(queue.name)));
}

Cluster::QueueTree Cluster::build_queues() {
    QueueTree tree;
    const auto warn = [&](std::string sentence) { tree.warnings.push_back(std::move(sentence)); };
    tree.rows.resize(queues_.slots());
    queues_.for_each([&](QueueId id, const Queue& fact) {
        tree.rows[id] = {.fact = &fact, .name = name_of_queue(fact), .parent = {}, .children = {}, .alive = true};
    });
    QueueRow& usual = tree.rows[default_queue_];
    usual.name = words_.find_string("default");
    usual.alive = true;
    for (QueueId id : IdRange<QueueId>(tree.rows.size())) {
        QueueRow& row = tree.rows[id];
        if (row.fact == nullptr || !row.fact->parent) continue;
        const std::string_view p = words_.text(row.fact->parent);
        // Koordinator writes an object for the root, too; the chain ends below it all the same.
        if (p == "koordinator-root-quota") continue;
        const QueueId parent = find_queue(row.fact->ns, row.fact->parent);
        if (parent && tree.rows[parent].fact != nullptr) {
            row.parent = parent;
        } else if (p != "root" && !p.empty()) {
            warn(fmt::format("Queue {}: parent {} does not exist", words_.text(row.name), p));
        }
    }
    const std::vector<bool> circular =
        leads_into_circle(tree.rows.size(), [&](std::size_t i) { return tree.rows[QueueId(i)].parent; });
    for (QueueId id : IdRange<QueueId>(tree.rows.size())) {
        QueueRow& row = tree.rows[id];
        if (circular[id.index()]) {
            row.parent = {};
            row.in_circle = true;
            row.alive = false;
            warn(fmt::format("Queue {}: its parents form a circle; it is left out and its pods wait",
                             words_.text(row.name)));
        } else if (row.parent) {
            tree.rows[row.parent].children.push_back(id);
        }
    }
    tree.paths.resize(tree.rows.size());
    for (QueueId id : IdRange<QueueId>(tree.rows.size())) {
        for (QueueId at = id; at; at = tree.rows[at].parent)
            tree.paths[id].push_back(at);
        std::ranges::sort(tree.rows[id].children, {}, [&](QueueId q) { return words_.text(tree.rows[q].name); });
    }
    return tree;
}

void Cluster::rebuild_composites() {
    composite_warnings_.clear();
    const auto warn = [&](std::string sentence) { composite_warnings_.push_back(std::move(sentence)); };
    snapshot_.composites.clear();
    snapshot_.composites.resize(composites_.slots());
    composites_.for_each([&](CompositeId id, const CompositeGroup& fact) {
        CompositeRow& row = snapshot_.composites[id];
        row.fact = &fact;
        row.parent = fact.parent ? composites_.find(fact.ns, fact.parent) : CompositeId();
        if (fact.parent && !row.parent)
            warn(fmt::format("CompositePodGroup {}/{} does not exist", words_.text(fact.ns), words_.text(fact.parent)));
    });
    const std::vector<bool> circular = leads_into_circle(
        composites_.slots(), [&](std::size_t i) { return snapshot_.composites[CompositeId(i)].parent; });
    for (CompositeId id : IdRange<CompositeId>(composites_.slots())) {
        if (!circular[id.index()]) continue;
        snapshot_.composites[id].parent = {};
        snapshot_.composites[id].in_circle = true;
        warn(fmt::format("CompositePodGroup {}/{}: its parents form a circle; it is left out and its pods wait",
                         words_.text(composites_.get(id)->ns),
                         words_.text(composites_.get(id)->name)));
    }
}

void Cluster::rebuild_gangs() {
    snapshot_.gangs.resize(gangs_.slots());
    gangs_.for_each([&](GangId id, const Gang& fact) {
        snapshot_.gangs[id] = {.fact = &fact, .ns = fact.ns, .name = fact.name, .alive = true};
        if (fact.parent) composed_.insert(id);
    });
    for (GangId id : composed_)
        join_composite(id);
}

// Puts a gang below the composite group that it names.
void Cluster::join_composite(GangId id) {
    GangRow& row = snapshot_.gangs[id];
    row.composite = composites_.find(row.ns, row.fact->parent);
    row.in_circle = row.composite && snapshot_.composites[row.composite].in_circle;
    if (!row.composite) {
        composite_warnings_.push_back(
            fmt::format("CompositePodGroup {}/{} does not exist", words_.text(row.ns), words_.text(row.fact->parent)));
    }
    for (CompositeId c = row.composite; c; c = snapshot_.composites[c].parent)
        snapshot_.composites[c].gangs.push_back(id);
}

bool Cluster::volume_before(VolumeId a, VolumeId b) const {
    const PersistentVolume& x = *volumes_.get(a);
    const PersistentVolume& y = *volumes_.get(b);
    if (group_of(x) != group_of(y)) return group_of(x) < group_of(y);
    if (x.capacity != y.capacity) return x.capacity < y.capacity;
    return words_.text(x.name) < words_.text(y.name);
}

void Cluster::rebuild_volumes() {
    volumes_by_size_.clear();
    volumes_.for_each([&](VolumeId id, const PersistentVolume& fact) {
        if (!fact.deleting) volumes_by_size_.push_back(id);
    });
    std::ranges::sort(volumes_by_size_, [&](VolumeId a, VolumeId b) { return volume_before(a, b); });
}

void Cluster::rank_volume(VolumeId id, bool enter) {
    if (!built_ || volumes_.get(id)->deleting) return;
    const auto at =
        std::ranges::lower_bound(volumes_by_size_, id, [&](VolumeId a, VolumeId b) { return volume_before(a, b); });
    if (enter)
        volumes_by_size_.insert(at, id);
    else if (at != volumes_by_size_.end() && *at == id)
        volumes_by_size_.erase(at);
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
