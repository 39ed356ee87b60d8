#include "actions/serving/view.h"

#include <algorithm>
#include <set>

namespace reprieve::serving {
namespace {

bool is_named(const std::string& full, const std::vector<std::string>& only) {
    return only.empty() || std::ranges::any_of(only, [&](const std::string& name) {
               return name == full || full.substr(full.find('/') + 1) == name;
           });
}

class Looking {
public:
    Looking(const Session& session,
            const ServingRoster& roster,
            const ActionConfig& action,
            const std::set<std::string>& overdue)
        : session_(session),
          snapshot_(session.snapshot),
          roster_(roster),
          action_(action),
          overdue_(overdue) {}

    View look(const std::vector<std::string>& only) {
        find_dimensions();
        add_nodes();
        for (const ServingRow& row : roster_.rows)
            add_deployment(row, only);
        return std::move(view_);
    }

private:
    void find_dimensions() {
        std::set<Dim> dims;
        for (const ServingRow& row : roster_.rows) {
            for (const auto& [dim, value] : row.need)
                dims.insert(dim);
        }
        view_.dims.assign(dims.begin(), dims.end());
    }

    [[nodiscard]] Amounts amounts(std::span<const Resources::Amount> list) const {
        Amounts out(view_.dims.size());
        for (const auto& [dim, value] : list) {
            const auto at = std::ranges::lower_bound(view_.dims, dim);
            if (at != view_.dims.end() && *at == dim) out[static_cast<std::size_t>(at - view_.dims.begin())] = value;
        }
        return out;
    }

    void add_nodes() {
        places_.resize(snapshot_.nodes.size());
        for (NodeId id : snapshot_.nodes_by_name) {
            const reprieve::Node& fact = *snapshot_.facts->node(id);
            places_[id] = NodeIndex(view_.nodes.size());
            view_.nodes.push_back(id);
            Node& node = view_.world.nodes.emplace_back();
            node.name = snapshot_.node_name(id);
            node.plane = roster_.planes[id];
            node.usable = snapshot_.nodes[id].ready && !fact.unschedulable;
            for (std::size_t i = 0; i < view_.dims.size(); ++i) {
                node.free.push_back(snapshot_.now.free(id, view_.dims[i]));
                node.later.push_back(snapshot_.later.free(id, view_.dims[i]));
                if (view_.dims[i] == fact.device_dim) node.device = static_cast<int>(i);
            }
        }
        // Pods may be bound to nodes that are not there.
        nowhere_ = NodeIndex(view_.nodes.size());
        view_.nodes.emplace_back();
        Amounts nothing(view_.dims.size());
        view_.world.nodes.push_back(
            {.name = {}, .plane = {}, .usable = false, .free = nothing, .later = nothing, .device = -1});
    }

    // Devices tell which node fits best; without any, cpu and memory do.
    [[nodiscard]] std::vector<std::size_t> fit_by(const Amounts& need) const {
        std::vector<std::size_t> devices;
        std::vector<std::size_t> plain;
        for (std::size_t i = 0; i < view_.dims.size(); ++i) {
            if (need[i] == 0) continue;
            if (view_.dims[i] == kCpu || view_.dims[i] == kMemory)
                plain.push_back(i);
            else if (view_.dims[i] != kPods && view_.dims[i] != kEphemeralStorage)
                devices.push_back(i);
        }
        std::ranges::sort(devices, {}, [&](std::size_t i) { return snapshot_.words->text(view_.dims[i]); });
        return devices.empty() ? plain : devices;
    }

    void add_deployment(const ServingRow& row, const std::vector<std::string>& only) {
        const DeploymentIndex index(view_.world.deployments.size());
        Deployment deployment{.name = row.name,
                              .priority = row.priority,
                              .desired = row.desired,
                              .need = amounts(row.need),
                              .fit_by = {},
                              .branches = {},
                              .asked = is_named(row.name, only)};
        deployment.fit_by = fit_by(deployment.need);
        for (const auto& [plane, branch] : row.branches) {
            for (PodId pod : branch.pods)
                add_replica(pod, index, deployment.branches.size());
            deployment.branches.push_back({.plane = plane,
                                           .score = branch.score,
                                           .allowed = branch.allowed,
                                           .rollout = branch.rollout,
                                           .unclear = branch.unclear,
                                           .commit = branch.commit});
        }
        view_.world.deployments.push_back(std::move(deployment));
    }

    void add_replica(PodId id, DeploymentIndex deployment, std::size_t branch) {
        const Pod& pod = snapshot_.facts->pod(id);
        Replica replica{.name = pod.name,
                        .ns = snapshot_.words->str(pod.ns),
                        .deployment = deployment,
                        .branch = branch,
                        .node = {},
                        .holds = amounts(snapshot_.class_of(id).requests),
                        .created = pod.created,
                        .ready = pod.ready,
                        .deletion_cost = pod.more().deletion_cost,
                        .claimed_by = pod.more().claimed_by};
        if (pod.node) replica.node = snapshot_.pods[id].node ? places_[snapshot_.pods[id].node] : nowhere_;
        replica.overdue = overdue_.contains(snapshot_.pod_name(id));
        if (pod.terminating())
            note_leaving(pod, replica);
        else
            replica.taken_from = session_.protections.replica_taken_from(snapshot_, id);
        view_.pods.push_back(id);
        view_.world.replicas.push_back(std::move(replica));
    }

    void note_leaving(const Pod& pod, Replica& replica) const {
        const Time now = snapshot_.now_time;
        const Time asked{pod.deleting.us - pod.grace_seconds * 1'000'000};
        replica.overdue = now - asked > action_.claim_timeout;  // whoever asked it, and whoever waits
        if (pod.grace_seconds > 1) {
            replica.stage = Stage::kTerminating;
            replica.can_be_forced = now - asked >= action_.min_terminating;
        } else {
            // After a deletion without grace only a finalizer can hold it.
            replica.stage = Stage::kForceDeleted;
            replica.can_be_forced = pod.grace_seconds > 0 && now - pod.deleting > action_.force_delete_timeout;
        }
    }

    const Session& session_;
    const Snapshot& snapshot_;
    const ServingRoster& roster_;
    const ActionConfig& action_;
    const std::set<std::string>& overdue_;
    View view_;
    IdVector<NodeId, NodeIndex> places_;
    NodeIndex nowhere_;
};

}  // namespace

View look_at(const Session& session,
             const ServingRoster& roster,
             const ActionConfig& action,
             const std::vector<std::string>& only,
             const std::set<std::string>& overdue) {
    return Looking(session, roster, action, overdue).look(only);
}

}  // namespace reprieve::serving
