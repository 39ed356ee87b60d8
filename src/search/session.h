// Session: one cycle at work: the Snapshot, the Transaction on it, the rules that are switched on, and which nodes each
// committed decision touched. Caches of the search follow that log instead of looking at all nodes again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/config.h"
#include "plugins/filters.h"
#include "plugins/limits.h"
#include "plugins/protection.h"
#include "plugins/score.h"
#include "state/cluster.h"
#include "state/transaction.h"

namespace reprieve {

class Session {
public:
    Session(Cluster& cluster, const SchedulerConfig& settings);

    const SchedulerConfig& config;
    Snapshot& snapshot;
    Transaction tx;
    Filters filters;
    Scores scores;
    Protections protections;
    Limits limits;

    // The ops since `from` stand: their nodes, and nodes whose verdicts depend on them, are touched.
    void commit(Transaction::Checkpoint from);
    // Something tentative happened there (or was taken back): boards ask this node again.
    void touch(NodeId node) { touched_.push_back(node); }
    // Rolls back and touches the nodes of the ops that are gone.
    void rollback(Transaction::Checkpoint to);
    [[nodiscard]] std::span<const NodeId> touched_since(std::size_t cursor) const {
        return std::span(touched_).subspan(cursor);
    }
    [[nodiscard]] std::size_t touch_end() const { return touched_.size(); }

    // Fits in this view by all filters, facts included.
    [[nodiscard]] Answer check(const Candidate& candidate, const Occupancy& view, NodeId node) const;

private:
    void touch_budget(BudgetId budget);

    std::vector<NodeId> touched_;
    std::vector<std::vector<NodeId>> budget_nodes_;  // made when first asked for
};

}  // namespace reprieve
