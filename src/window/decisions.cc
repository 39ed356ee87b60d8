#include "window/decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "explain/levers.h"
#include "state/pod_named.h"

namespace reprieve::window {
namespace {

constexpr std::size_t kDigestLetters = 10;

// The pods of a gang are placed for the gang, a single pod for itself.
const std::string& owner_of(const Placement& placement) {
    return placement.owner.empty() ? placement.pod : placement.owner;
}

}  // namespace

// "sha256:a005bf9c21..." -> "a005bf9c21"
std::string decision_digest(const std::string& plan_id) {
    const std::size_t colon = plan_id.find(':');
    return plan_id.substr(colon == std::string::npos ? 0 : colon + 1, kDigestLetters);
}

std::vector<Decision> decisions_of(const Plan& plan, std::int64_t cycle) {
    std::map<std::string, Decision> by_owner;
    const auto decision_for = [&](const std::string& owner) -> Decision& {
        Decision& decision = by_owner[owner];
        decision.owner = owner;
        return decision;
    };
    for (const Eviction& eviction : plan.evictions) {
        Decision& decision = decision_for(eviction.owner);
        decision.action = eviction.action;
        decision.evictions.push_back(eviction);
    }
    for (const Placement& placement : plan.placements) {
        Decision& decision = decision_for(owner_of(placement));
        if (decision.action.empty()) decision.action = placement.action;
        decision.placements.push_back(placement);
    }
    for (const Certificate& certificate : plan.certificates) {
        const auto found = by_owner.find(certificate.owner);
        if (found == by_owner.end() || is_refusal(certificate.status)) continue;
        found->second.certificate = certificate;
        if (found->second.action.empty()) found->second.action = certificate.action;
    }
    std::vector<Decision> decisions;
    for (auto& [owner, decision] : by_owner)
        decisions.push_back(std::move(decision));
    std::ranges::stable_partition(decisions, [](const Decision& d) { return !d.evictions.empty(); });
    for (std::size_t i = 0; i < decisions.size(); ++i) {
        decisions[i].id = fmt::format("{}-{}", decision_digest(plan.id), i + 1);
        decisions[i].at = plan.now;
        decisions[i].cycle = cycle;
    }
    return decisions;
}

OwnerFacts owner_facts(const Cluster& cluster, const std::string& owner) {
    const Snapshot& s = cluster.snapshot();
    OwnerFacts facts;
    const auto take_pod = [&](PodId pod) {
        const PodRow& row = s.pods[pod];
        if (row.queue) facts.queue = cluster.words().str(s.queues[row.queue].name);
        if (!facts.priority || row.priority > *facts.priority) facts.priority = row.priority;
        facts.pods.push_back(s.pod_name(pod));
    };
    if (const GangId gang = gang_named(cluster, owner)) {
        for (const PodId pod : s.gangs[gang].pods)
            take_pod(pod);
        facts.priority = s.gangs[gang].attack_priority;
    } else if (const PodId pod = pod_named(cluster, owner)) {
        take_pod(pod);
    }
    return facts;
}

}  // namespace reprieve::window
