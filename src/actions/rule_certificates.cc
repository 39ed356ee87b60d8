#include "actions/rule_certificates.h"

#include <map>

#include "model/config.h"
#include "state/cluster.h"
#include "state/pod_named.h"

namespace reprieve {

void certify_by_rule(const Snapshot& s, Plan& plan) {
    const std::string serving = to_text(ActionKind::kServingPreempt);
    std::map<std::string, std::int64_t> pods;  // by whom they make room for
    for (const Eviction& eviction : plan.evictions) {
        const bool scales = eviction.action == serving && eviction.mode == EvictionMode::kScaleDown;
        if (scales && pod_named(*s.facts, eviction.pod)) ++pods[eviction.owner];
    }
    // A replica counts for what its deployment is worth there, which is the order itself.
    for (const auto& [owner, count] : pods) {
        plan.certificates.push_back(
            {.owner = owner, .action = serving, .status = CertificateStatus::kHeuristic, .cost = {{"pods", count}}});
    }
}

}  // namespace reprieve
