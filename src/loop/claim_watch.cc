#include "loop/claim_watch.h"

#include <algorithm>

#include "state/pod_named.h"

namespace reprieve {

ClaimWatch::ClaimWatch(const SchedulerConfig& config) : timeout_(ActionConfig().claim_timeout) {
    if (!config.actions) return;
    const auto serving = std::ranges::find(*config.actions, ActionKind::kServingPreempt, &ActionConfig::kind);
    if (serving != config.actions->end()) timeout_ = serving->claim_timeout;
}

void ClaimWatch::take(const Plan& plan, const Cluster& cluster) {
    std::map<std::string, Time> now;
    for (const Match& match : plan.matches) {
        for (const MatchVictim& victim : match.victims) {
            const auto before = since_.find(victim.pod);
            now.emplace(victim.pod, before == since_.end() ? plan.now : before->second);
        }
    }
    for (const auto& [pod, since] : since_) {
        if (is_overdue(since, plan.now) && pod_named(cluster, pod)) now.emplace(pod, since);
    }
    since_ = std::move(now);
}

OverdueClaims ClaimWatch::overdue(Time now) const {
    OverdueClaims out;
    for (const auto& [pod, since] : since_) {
        if (is_overdue(since, now)) out.insert(pod);
    }
    return out;
}

}  // namespace reprieve
