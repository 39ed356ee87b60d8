// Session: one cycle at work: the Snapshot, the Transaction on it and the rules that are switched on.
//
// Caches of the search (boards) follow the Transaction's log of touched nodes instead of looking at all nodes again.
// What one node can offer may also depend on ops elsewhere: how many pods a gang can spare, what a disruption budget
// has left. Those nodes are noted when a decision is committed, and again when it is withdrawn; in between, while a
// search tries things, nobody reads such a cache.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
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

class RunningPods;

class Session {
public:
    Session(Cluster& cluster, const SchedulerConfig& settings);
    ~Session();

    const SchedulerConfig& config;
    Snapshot& snapshot;
    Transaction tx;
    Filters filters;
    Scores scores;
    Protections protections;
    Limits limits;
    // Placements of this plan whose rules look at other pods (affinity, spread). While a search runs with these in
    // mind, a set of victims counts only if they all still hold.
    std::vector<PodId> keep_in_mind;

    // The ops since `from` stand: nodes whose verdicts depend on them are noted.
    void commit(Transaction::Checkpoint from);
    // Withdraws ops that were committed.
    void rollback(Transaction::Checkpoint to);

    // Fits in this view by all filters, facts included.
    [[nodiscard]] Answer check(const Candidate& candidate, const Occupancy& view, NodeId node) const;

    // Who runs, by class; made when first asked for. Not from several threads.
    [[nodiscard]] RunningPods& running() const;

private:
    struct BudgetSpread {
        std::vector<NodeId> nodes;
        std::int64_t most_on_a_node = 0;
        bool gangs = false;  // its pods may go with others elsewhere
    };
    void note_dependents(std::span<const Op> ops);
    void note_budget(BudgetId budget, std::int64_t spent);
    void read_budgets();

    std::optional<std::vector<BudgetSpread>> budgets_;  // made when first asked for
    mutable std::unique_ptr<RunningPods> running_;
};

}  // namespace reprieve
