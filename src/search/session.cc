#include "search/session.h"

#include <algorithm>
#include <map>

#include "search/in_the_way.h"

namespace reprieve {

Session::Session(Cluster& cluster, const SchedulerConfig& settings)
    : config(settings),
      snapshot(cluster.snapshot()),
      tx(cluster.snapshot()),
      filters(settings.plugins),
      scores(settings.plugins, cluster.snapshot()),
      protections(settings),
      limits(cluster.snapshot(), settings) {}

Session::~Session() = default;

RunningPods& Session::running() const {
    if (!running_) running_ = std::make_unique<RunningPods>(*this);
    return *running_;
}

Answer Session::check(const Candidate& candidate, const Occupancy& view, NodeId node) const {
    const Answer facts = filters.check_facts(candidate, node);
    return facts.fits() ? filters.check_view(candidate, view, snapshot.later, node) : facts;
}

void Session::commit(Transaction::Checkpoint from) { note_dependents(tx.since(from)); }

void Session::rollback(Transaction::Checkpoint to) {
    note_dependents(tx.since(to));
    tx.rollback(to);
}

void Session::note_dependents(std::span<const Op> ops) {
    std::set<GangId> gangs;
    std::map<BudgetId, std::int64_t> spent;
    for (const Op& op : ops) {
        tx.touches().note(op.node);
        if (const GangId gang = snapshot.pods[op.pod].gang) gangs.insert(gang);
        if (op.kind != OpKind::kEvict) continue;
        for (BudgetId budget : snapshot.class_of(op.pod).budgets)
            ++spent[budget];
    }
    // What a gang can spare changes with every member, wherever it runs.
    for (GangId gang : gangs) {
        for (PodId mate : snapshot.gangs[gang].pods) {
            if (const NodeId node = snapshot.pods[mate].node) tx.touches().note(node);
        }
    }
    for (const auto& [budget, pods] : spent)
        note_budget(budget, pods);
}

// Which pods of a node break a budget depends on what it has left only while that is more than nothing and less than
// the node could spend: with nothing left every pod breaks it, with enough left none does.
void Session::note_budget(BudgetId budget, std::int64_t spent) {
    if (!budgets_) read_budgets();
    const BudgetSpread& spread = (*budgets_)[budget.index()];
    const std::int64_t left = snapshot.budgets[budget].left;
    const std::int64_t low = left - spent;  // commit and withdrawal both stay within
    const std::int64_t high = left + spent;
    if (!spread.gangs && (high <= 0 || low >= spread.most_on_a_node)) return;
    for (NodeId node : spread.nodes)
        tx.touches().note(node);
}

void Session::read_budgets() {
    budgets_.emplace(snapshot.budgets.size());
    std::vector<std::int64_t> here(snapshot.budgets.size());
    for (NodeId node : snapshot.nodes_by_name) {
        std::vector<BudgetId> seen;
        for (PodId pod : snapshot.node_pods[node]) {
            for (BudgetId budget : snapshot.class_of(pod).budgets) {
                if (here[budget.index()]++ == 0) seen.push_back(budget);
                BudgetSpread& spread = (*budgets_)[budget.index()];
                spread.gangs = spread.gangs || snapshot.pods[pod].gang.valid();
            }
        }
        for (BudgetId budget : seen) {
            BudgetSpread& spread = (*budgets_)[budget.index()];
            spread.nodes.push_back(node);
            spread.most_on_a_node = std::max(spread.most_on_a_node, here[budget.index()]);
            here[budget.index()] = 0;
        }
    }
}

}  // namespace reprieve
