#include "search/session.h"

#include <algorithm>

namespace reprieve {

Session::Session(Cluster& cluster, const SchedulerConfig& settings)
    : config(settings),
      snapshot(cluster.snapshot()),
      tx(cluster.snapshot()),
      filters(settings.plugins),
      scores(settings.plugins, cluster.snapshot()),
      protections(settings.plugins),
      limits(cluster.snapshot(), settings) {}

Answer Session::check(const Candidate& candidate, const Occupancy& view, NodeId node) const {
    const Answer facts = filters.check_facts(candidate, node);
    return facts.fits() ? filters.check_view(candidate, view, snapshot.later, node) : facts;
}

void Session::commit(Transaction::Checkpoint from) {
    for (const Op& op : tx.since(from)) {
        touched_.push_back(op.node);
        const PodRow& row = snapshot.pods[op.pod];
        // What is surplus in a gang changes with every member, wherever it runs.
        if (row.gang) {
            for (PodId mate : snapshot.gangs[row.gang].pods) {
                if (const NodeId node = snapshot.pods[mate].node; node && node != op.node) touched_.push_back(node);
            }
        }
        if (op.kind == OpKind::kEvict) {
            for (BudgetId budget : snapshot.class_of(op.pod).budgets)
                touch_budget(budget);
        }
    }
}

void Session::rollback(Transaction::Checkpoint to) {
    for (const Op& op : tx.since(to))
        touched_.push_back(op.node);
    tx.rollback(to);
}

void Session::touch_budget(BudgetId budget) {
    if (budget_nodes_.empty()) {
        budget_nodes_.resize(snapshot.budgets.size());
        for (NodeId node : snapshot.nodes_by_name) {
            for (PodId pod : snapshot.node_pods[node]) {
                for (BudgetId b : snapshot.class_of(pod).budgets) {
                    std::vector<NodeId>& nodes = budget_nodes_[b.index()];
                    if (nodes.empty() || nodes.back() != node) nodes.push_back(node);
                }
            }
        }
    }
    const std::vector<NodeId>& nodes = budget_nodes_[budget.index()];
    touched_.insert(touched_.end(), nodes.begin(), nodes.end());
}

}  // namespace reprieve
