#include "loop/blame.h"

#include <fmt/format.h>

#include <set>

#include "state/pod_named.h"

namespace reprieve {
namespace {

using Owners = std::map<std::string, std::set<std::string>>;  // demands, by what is hit for them

bool covers(const DisruptionBudget& budget, const Pod& pod, const Vocabulary& words) {
    return pod.ns == budget.ns && budget.selector.matches(words.labels(pod.labels), words);
}

// By the name of each gang that loses members, and of each budget over a victim.
Owners owners_by_what_is_hit(const Cluster& cluster, const Plan& plan, const std::set<std::string>& asked) {
    Owners out;
    const Snapshot& s = cluster.snapshot();
    std::map<std::string, const DisruptionBudget*> budgets;
    for (const BudgetRow& row : s.budgets) {
        if (!row.alive || row.fact == nullptr) continue;
        std::string name =
            fmt::format("{}/{}", cluster.words().text(row.fact->ns), cluster.words().text(row.fact->name));
        if (asked.contains(name)) budgets.emplace(std::move(name), row.fact);
    }
    for (const Eviction& e : plan.evictions) {
        const PodId pod = e.owner.empty() ? PodId() : pod_named(cluster, e.pod);
        if (!pod) continue;
        if (s.pods[pod].gang) out[s.gang_name(s.pods[pod].gang)].insert(e.owner);
        for (const auto& [name, budget] : budgets) {
            if (!e.pdb_violation && covers(*budget, cluster.pod(pod), cluster.words())) out[name].insert(e.owner);
        }
    }
    return out;
}

}  // namespace

std::map<std::string, const Violation*> who_is_to_blame(const Cluster& cluster,
                                                        const Plan& plan,
                                                        const std::vector<Violation>& violations) {
    std::map<std::string, std::string> demand_of;  // by pod
    std::set<std::string> demands;
    const auto note = [&](const std::string& pod, const std::string& demand) {
        demand_of.emplace(pod, demand);
        demands.insert(demand);
    };
    for (const Eviction& e : plan.evictions) {
        if (!e.owner.empty()) note(e.pod, e.owner);
    }
    for (const Placement& p : plan.placements)
        note(p.pod, p.owner.empty() ? p.pod : p.owner);

    std::map<std::string, const Violation*> out;
    std::vector<const Violation*> others;
    std::set<std::string> asked;
    for (const Violation& violation : violations) {
        const auto found = demand_of.find(violation.object);
        if (found != demand_of.end()) {
            out.emplace(found->second, &violation);
        } else if (demands.contains(violation.object)) {
            out.emplace(violation.object, &violation);
        } else {
            others.push_back(&violation);
            asked.insert(violation.object);
        }
    }
    if (others.empty()) return out;
    const Owners owners = owners_by_what_is_hit(cluster, plan, asked);
    for (const Violation* violation : others) {
        const auto found = owners.find(violation->object);
        if (found == owners.end()) continue;
        for (const std::string& owner : found->second)
            out.emplace(owner, violation);
    }
    return out;
}

}  // namespace reprieve
