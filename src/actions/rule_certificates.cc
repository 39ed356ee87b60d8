#include "actions/rule_certificates.h"

#include <algorithm>
#include <map>

#include "model/config.h"
#include "state/cluster.h"
#include "state/pod_named.h"

namespace reprieve {
namespace {

struct RuleBill {
    std::int64_t violations = 0;
    std::int64_t max_priority = INT64_MIN;
    std::int64_t pods = 0;
};

CostVector cost_of(const RuleBill& bill, bool by_queue) {
    // A replica counts for what its deployment is worth there, which is the order itself.
    if (!by_queue) return {{"pods", bill.pods}};
    return {{"pdbViolations", bill.violations}, {"maxPriority", bill.max_priority}, {"pods", bill.pods}};
}

}  // namespace

void certify_by_rule(const Snapshot& s, Plan& plan) {
    const std::string balance = to_text(ActionKind::kQueueBalance);
    const std::string serving = to_text(ActionKind::kServingPreempt);
    std::map<std::pair<std::string, std::string>, RuleBill> bills;  // by whom it is for, and action
    for (const Eviction& eviction : plan.evictions) {
        const bool by_queue = eviction.action == balance;
        const bool scales = eviction.action == serving && eviction.mode == EvictionMode::kScaleDown;
        const PodId pod = by_queue || scales ? pod_named(*s.facts, eviction.pod) : PodId();
        if (!pod) continue;
        const PodRow& row = s.pods[pod];
        const std::string owner = by_queue ? s.words->str(s.queues[row.queue].name) : eviction.owner;
        RuleBill& bill = bills[{owner, eviction.action}];
        bill.violations += eviction.pdb_violation ? 1 : 0;
        bill.max_priority = std::max<std::int64_t>(bill.max_priority, row.unit_priority);
        ++bill.pods;
    }
    for (const auto& [key, bill] : bills) {
        plan.certificates.push_back({.owner = key.first,
                                     .action = key.second,
                                     .status = CertificateStatus::kHeuristic,
                                     .cost = cost_of(bill, key.second == balance)});
    }
}

}  // namespace reprieve
