// Disruption budgets: what they allow is spent once per plan, and what goes beyond it is said.
#include <fmt/format.h>

#include <algorithm>

#include "audit/rules.h"

namespace reprieve {

bool covers(const Case& judged, const DisruptionBudget& budget, PodId pod) {
    const Pod& fact = judged.fact(pod);
    const Labels& labels = judged.labels(pod);
    if (fact.ns != budget.ns || labels.empty() || budget.selector.empty()) return false;
    if (std::ranges::find(budget.disrupted_pods, fact.name) != budget.disrupted_pods.end()) return false;
    return budget.selector.matches(labels, judged.words);
}

void judge_budgets(const Case& judged, Report& report) {
    if (!judged.enabled("pdb")) return;
    for (const EvictedPod& item : judged.evicted) {
        const auto strict = [](const ActionConfig& action) { return action.pdb == PdbMode::kStrict; };
        if (item.entry->pdb_violation && item.action && judged.configured(*item.action, strict)) {
            report.add("pdb", item.entry->pod, "breaks a disruption budget, which are strict");
        }
    }
    for (const BudgetRow& row : judged.snapshot.budgets) {
        if (!row.alive || row.fact == nullptr) continue;
        std::int64_t silent = 0;
        for (const EvictedPod& item : judged.evicted) {
            // Budgets do not apply to scale-downs.
            if (item.entry->unit == UnitKind::kReplica || item.entry->pdb_violation) continue;
            if (covers(judged, *row.fact, item.pod)) ++silent;
        }
        if (silent <= std::max<std::int64_t>(0, row.allowed)) continue;
        report.add("pdb",
                   fmt::format("{}/{}", judged.words.text(row.fact->ns), judged.words.text(row.fact->name)),
                   fmt::format("allows {} disruptions, {} are planned without saying so", row.allowed, silent));
    }
}

}  // namespace reprieve
