// Cluster: one changed thing at a time. Costs follow what changed, not the size of the cluster.
#include <algorithm>

#include "base/check.h"
#include "state/cluster.h"

namespace reprieve {

void Cluster::update() {
    if (snapshot_.dims < words_.dimension_count()) {
        snapshot_.dims = words_.dimension_count();
        touch_device_claims(device_classes_.size() > 0);  // a class may stand behind a resource that is new
        for (Occupancy* view : {&snapshot_.now, &snapshot_.later})
            view->widen(snapshot_.dims);
    }
    if (composites_dirty_) update_composites();
    if (queues_dirty_) update_queues();
    fit_tables();
    for (NodeId node : dirty_nodes_)
        update_node(node);
    dirty_nodes_.clear();
    if (ranks_dirty_) rank_nodes();
    ranks_dirty_ = false;
    if (domains_dirty_) update_domains();
    for (const std::uint64_t claim : claims_touched_) {
        if (const auto classes = classes_by_claim_.find(claim); classes != classes_by_claim_.end()) {
            for (ClassId cls : classes->second)
                resolve_volumes(snapshot_.classes[cls]);
        }
    }
    claims_touched_.clear();
    if (device_claims_dirty_) clear_device_claims();
    const bool any = !dirty_pods_.empty() || budgets_dirty_;
    enter_dirty_pods();
    // What a budget allows stands in its status, or follows from its pods.
    for (BudgetId budget : IdRange<BudgetId>(any ? snapshot_.budgets.size() : 0))
        compute_allowance(budget);
    budgets_dirty_ = false;
    if (device_claims_dirty_)
        rebuild_device_claims();
    else
        update_device_claims();
    device_claims_dirty_ = false;
}

// Rows for everything that has an id.
void Cluster::fit_tables() {
    snapshot_.claim_count = claims_.slots();
    snapshot_.pods.resize(pods_.size());
    snapshot_.holds.resize(pods_.size());
    fit_views();
}

void Cluster::fit_views() {
    const Geometry geometry = snapshot_.geometry();
    for (Occupancy* view : {&snapshot_.now, &snapshot_.later}) {
        view->resize(geometry,
                     snapshot_.nodes.size(),
                     snapshot_.queues.size(),
                     snapshot_.domains.domains.size(),
                     snapshot_.claim_count);
    }
}

// Pods whose queue, or one above it, is another one now leave the sums as they entered them, before the tree changes.
void Cluster::update_queues() {
    QueueTree tree = build_queues();
    for (PodId id : IdRange<PodId>(snapshot_.pods.size())) {
        const PodRow& row = snapshot_.pods[id];
        if (row.state == PodState::kAbsent) continue;
        bool missing = false;
        const QueueId queue = queue_of(pods_[id], row.gang, tree.rows, missing);
        const bool same =
            queue == row.queue && missing == row.has(kQueueMissing) &&
            (!queue || (tree.paths[queue] == snapshot_.queue_path[queue] && !queues_changed_.contains(queue)));
        if (!same) touch(id);
    }
    snapshot_.queues = std::move(tree.rows);
    snapshot_.queue_path = std::move(tree.paths);
    queue_warnings_ = std::move(tree.warnings);
    queues_dirty_ = false;
    queues_changed_.clear();
}

void Cluster::update_composites() {
    std::vector<GangId> circular;
    for (GangId gang : composed_) {
        if (snapshot_.gangs[gang].in_circle) circular.push_back(gang);
    }
    rebuild_composites();
    for (GangId gang : composed_) {
        join_composite(gang);
        dirty_gangs_.push_back(gang);
        const bool was = std::ranges::binary_search(circular, gang);
        if (was != snapshot_.gangs[gang].in_circle) touch_members(snapshot_.gangs[gang].ns, snapshot_.gangs[gang].name);
    }
    composites_dirty_ = false;
}

void Cluster::update_domains() {
    rebuild_domains();
    const Geometry geometry = snapshot_.geometry();
    for (Occupancy* view : {&snapshot_.now, &snapshot_.later})
        view->recount_domains(geometry, snapshot_.domains.domains.size());
    domains_dirty_ = false;
}

void Cluster::enter_dirty_pods() {
    std::ranges::sort(dirty_pods_);
    const auto repeated = std::ranges::unique(dirty_pods_);
    dirty_pods_.erase(repeated.begin(), repeated.end());
    std::erase_if(dirty_pods_, [&](PodId id) { return !pods_[id].ns; });

    // New kinds of pods first: terms that come with them are counted over those who are in the sums, and the pods of
    // this update are not.
    for (PodId id : dirty_pods_)
        static_cast<void>(class_for(pods_[id]));
    fill_new_terms();

    std::vector<NodeId> device_nodes;
    for (PodId id : dirty_pods_) {
        resolve_pod(id);
        const PodRow& row = snapshot_.pods[id];
        if (row.gang) {
            std::vector<PodId>& members = snapshot_.gangs[row.gang].pods;
            const auto at =
                std::ranges::lower_bound(members, id, [&](PodId a, PodId b) { return snapshot_.name_less(a, b); });
            if (at == members.end() || *at != id) members.insert(at, id);
            dirty_gangs_.push_back(row.gang);
        }
        if (row.node && snapshot_.classes[row.cls].has_devices) device_nodes.push_back(row.node);
    }
    std::vector<GangId> gangs = std::move(dirty_gangs_);
    dirty_gangs_.clear();
    std::ranges::sort(gangs);
    const auto same = std::ranges::unique(gangs);
    gangs.erase(same.begin(), same.end());
    for (GangId gang : gangs)
        resolve_gang(gang);
    for (PodId id : dirty_pods_) {
        introduce(id);
        withdraw_claims_of(id);
    }
    for (NodeId node : device_nodes)
        assign_devices(node);
    dirty_pods_.clear();
    forget_empty_gangs(gangs);
}

// Gangs that only their pods knew, once the last pod is gone.
void Cluster::forget_empty_gangs(const std::vector<GangId>& gangs) {
    for (GangId gang : gangs) {
        GangRow& row = snapshot_.gangs[gang];
        if (!row.alive || row.fact != nullptr || !row.pods.empty()) continue;
        gangs_.erase(row.ns, row.name);
        row = GangRow();
    }
}

void Cluster::update_node(NodeId id) {
    const Node* fact = nodes_.get(id);
    REPRIEVE_CHECK(fact != nullptr);
    const Geometry geometry = snapshot_.geometry();
    for (Occupancy* view : {&snapshot_.now, &snapshot_.later})
        view->offer(geometry, id, fact->allocatable, +1);
    snapshot_.nodes[id].ready = fact->ready;
    snapshot_.nodes[id].alive = true;
}

void Cluster::occupy(PodId id, int sign) {
    const PodRow& row = snapshot_.pods[id];
    const PodClass& cls = snapshot_.classes[row.cls];
    const PodSpec& spec = words_.spec(cls.spec);
    const Geometry geometry = snapshot_.geometry();
    if (row.state == PodState::kRunning || row.state == PodState::kTerminating) {
        snapshot_.now.apply(geometry, cls, spec, row.node, row.queue, snapshot_.holds[id], sign);
    }
    if (row.state == PodState::kRunning)
        snapshot_.later.apply(geometry, cls, spec, row.node, row.queue, snapshot_.holds[id], sign);
    if (!row.has(kResizing)) return;
    // Until its resize is granted, such a pod holds what it had.
    const auto delta = resize_delta(id);
    if (row.state == PodState::kRunning || row.state == PodState::kTerminating)
        snapshot_.now.grow(geometry, cls, row.node, row.queue, delta, -sign);
    if (row.state == PodState::kRunning) snapshot_.later.grow(geometry, cls, row.node, row.queue, delta, -sign);
}

std::vector<Resources::Amount> Cluster::resize_delta(PodId id) const {
    std::vector<Resources::Amount> delta;
    const Resources& held = *pods_[id].more().resize_held;
    for (const auto& [dim, value] : snapshot_.spec_of(id).requests) {
        if (dim != kPods && value != held.get(dim)) delta.push_back({dim, value - held.get(dim)});
    }
    return delta;
}

// Enters a resolved pod into the sums and lists.
void Cluster::introduce(PodId id) {
    const PodRow& row = snapshot_.pods[id];
    if (row.node) {
        std::vector<PodId>& there = snapshot_.node_pods[row.node];
        const auto by_name = [&](PodId a, PodId b) { return snapshot_.name_less(a, b); };
        there.insert(std::ranges::upper_bound(there, id, by_name), id);
    }
    occupy(id, +1);
    if (row.gang && row.state == PodState::kRunning) ++snapshot_.gangs[row.gang].live;
    if (row.gang && pods_[id].phase == PodPhase::kSucceeded) ++snapshot_.gangs[row.gang].done;
    if (row.state == PodState::kPending && !row.has(kForeign) && !row.has(kServing)) pending_.insert(id);
    if (row.has(kResizing) && row.state == PodState::kRunning && !row.has(kForeign)) resizing_.insert(id);
    if (row.state == PodState::kIgnored && !row.has(kFinished) && pods_[id].gated) gated_.insert(id);
    const PodExtras& notes = pods_[id].more();
    if (!notes.claimed_by.empty() || notes.has_deletion_cost) marked_.insert(id);
}

// Takes a pod out of the sums and lists again, before its fact changes or goes.
void Cluster::withdraw(PodId id) {
    if (id.index() >= snapshot_.pods.size()) return;
    PodRow& row = snapshot_.pods[id];
    if (row.state == PodState::kAbsent) return;
    budgets_dirty_ = true;
    withdraw_claims_of(id);
    occupy(id, -1);
    if (pods_[id].node && !row.node) count_in(adrift_, pods_[id].node, id, false);
    if (pods_[id].group && !row.gang) count_in(ungrouped_, name_key(pods_[id].ns, pods_[id].group), id, false);
    if (row.gang && row.state == PodState::kRunning) --snapshot_.gangs[row.gang].live;
    if (row.gang && pods_[id].phase == PodPhase::kSucceeded) --snapshot_.gangs[row.gang].done;
    if (row.gang) {
        std::erase(snapshot_.gangs[row.gang].pods, id);
        dirty_gangs_.push_back(row.gang);
    }
    if (row.node) std::erase(snapshot_.node_pods[row.node], id);
    pending_.erase(id);
    resizing_.erase(id);
    gated_.erase(id);
    marked_.erase(id);
    const NodeId node = row.node;
    const bool devices = !snapshot_.holds[id].empty();
    snapshot_.holds[id].clear();
    row = PodRow();
    if (devices && node) assign_devices(node);
}

// Disruptions a budget still allows: its status says, or it follows from its rule and the healthy pods.
void Cluster::compute_allowance(BudgetId id) {
    BudgetRow& row = snapshot_.budgets[id];
    if (row.fact == nullptr) return;
    row.fact = budgets_.get(id);
    const DisruptionBudget& fact = *row.fact;
    if (fact.disruptions_allowed) {
        row.allowed = row.left = *fact.disruptions_allowed;
        return;
    }
    std::int64_t expected = 0;
    std::int64_t healthy = 0;
    for (PodId pod : IdRange<PodId>(snapshot_.pods.size())) {
        const PodRow& p = snapshot_.pods[pod];
        if (p.state == PodState::kAbsent || p.has(kFinished)) continue;
        const PodClass& cls = snapshot_.classes[p.cls];
        if (std::ranges::find(cls.budgets, id) == cls.budgets.end()) continue;
        ++expected;
        // Offline manifests often leave the Ready condition out; a running pod counts as healthy then.
        if (p.state == PodState::kRunning && (pods_[pod].ready || pods_[pod].phase == PodPhase::kRunning)) ++healthy;
    }
    const auto amount = [&](const IntOrPercent& v) { return v.percent ? (v.value * expected + 99) / 100 : v.value; };
    std::int64_t needed = 0;
    if (fact.max_unavailable) {
        needed = std::max<std::int64_t>(0, expected - amount(*fact.max_unavailable));
    } else if (fact.min_available) {
        needed = amount(*fact.min_available);
    }
    row.allowed = row.left = std::max<std::int64_t>(0, healthy - needed);
}

}  // namespace reprieve
