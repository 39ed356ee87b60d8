// Disruption budgets: what they allow is spent once per plan, whatever the order, and what goes beyond it is said.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "audit/budget_index.h"
#include "audit/rules.h"

namespace reprieve {
namespace {

bool covers(const Case& judged, const DisruptionBudget& budget, PodId pod) {
    const Pod& fact = judged.fact(pod);
    const Labels& labels = judged.labels(pod);
    if (fact.ns != budget.ns || labels.empty() || budget.selector.empty()) return false;
    if (std::ranges::binary_search(budget.disrupted_pods, fact.name)) return false;
    return budget.selector.matches(labels, judged.words);
}

}  // namespace

BudgetIndex::BudgetIndex(const Case& judged) : judged_(judged) {
    for (const BudgetId id : IdRange<BudgetId>(judged.snapshot.budgets.size())) {
        const BudgetRow& row = judged.snapshot.budgets[id];
        if (!row.alive || row.fact == nullptr) continue;
        const auto& asked = row.fact->selector.requirements;
        const auto some = std::ranges::find(asked, SelectorOp::kIn, &Requirement::op);
        if (some == asked.end()) {
            others_[row.fact->ns].push_back(id);
            continue;
        }
        for (const StringId value : some->values)
            by_label_[row.fact->ns][{some->key, value}].push_back(id);
    }
}

std::vector<BudgetId> BudgetIndex::over(PodId pod) const {
    std::vector<BudgetId> found;
    const auto take = [&](const std::vector<BudgetId>& some) {
        std::ranges::copy_if(some, std::back_inserter(found), [&](BudgetId id) {
            return covers(judged_, *judged_.snapshot.budgets[id].fact, pod);
        });
    };
    const StringId ns = judged_.fact(pod).ns;
    if (const auto at = others_.find(ns); at != others_.end()) take(at->second);
    if (const auto at = by_label_.find(ns); at != by_label_.end()) {
        for (const auto& label : judged_.labels(pod)) {
            if (const auto some = at->second.find(label); some != at->second.end()) take(some->second);
        }
    }
    std::ranges::sort(found);
    return found;
}

void judge_budgets(const Case& judged, Report& report) {
    if (!judged.enabled("pdb")) return;
    const BudgetIndex& budgets = judged.budgets();
    std::map<BudgetId, std::int64_t> silent;
    for (const EvictedPod& item : judged.evicted) {
        const auto strict = [](const ActionConfig& action) { return action.pdb == PdbMode::kStrict; };
        if (item.entry->pdb_violation && item.action && judged.configured(*item.action, strict)) {
            report.add("pdb", item.entry->pod, "breaks a disruption budget, which are strict");
        }
        // Budgets do not apply to scale-downs.
        if (item.entry->unit == UnitKind::kReplica || item.entry->pdb_violation) continue;
        for (const BudgetId id : budgets.over(item.pod))
            ++silent[id];
    }
    for (const auto& [id, count] : silent) {
        const BudgetRow& row = judged.snapshot.budgets[id];
        if (count <= std::max<std::int64_t>(0, row.allowed)) continue;
        report.add("pdb",
                   fmt::format("{}/{}", judged.words.text(row.fact->ns), judged.words.text(row.fact->name)),
                   fmt::format("allows {} disruptions, {} are planned without saying so", row.allowed, count));
    }
}

}  // namespace reprieve
