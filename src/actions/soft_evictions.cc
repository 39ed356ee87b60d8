#include "actions/soft_evictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace reprieve {
namespace {

struct Asked {
    PodId pod;
    SoftEviction how;
};

// Pods that run on although we have asked them to go.
std::vector<Asked> asked_to_go(const Snapshot& s) {
    std::vector<Asked> found;
    for (PodId pod : IdRange<PodId>(s.pods.size())) {
        if (s.pods[pod].state != PodState::kTerminating || s.facts->pod(pod).terminating()) continue;
        auto how = soft_eviction_of(s.facts->pod(pod));
        if (how && how->initiator == SoftEviction::kOurs) found.push_back({pod, std::move(*how)});
    }
    return found;
}

// Of pods without a place, whoever's they are, and of their gangs.
std::set<std::string> waiting_names(const Snapshot& s) {
    std::set<std::string> names;
    for (PodId pod : IdRange<PodId>(s.pods.size())) {
        if (s.pods[pod].state == PodState::kAbsent) continue;
        const Pod& fact = s.facts->pod(pod);
        if (fact.node || fact.finished() || fact.terminating()) continue;
        names.insert(s.pod_name(pod));
        if (s.pods[pod].gang) names.insert(s.gang_name(s.pods[pod].gang));
    }
    return names;
}

}  // namespace

void delete_overdue(Desk& desk, const ActionConfig& action, std::span<const Demand> nominated) {
    if (!action.soft_eviction_deadline) return;
    const Snapshot& s = desk.snapshot();
    for (const auto& [pod, asked] : asked_to_go(s)) {
        if (!asked.since.is_set() || s.now_time < asked.since + *action.soft_eviction_deadline) continue;
        const auto owner_of = [&](const Demand& demand) { return owner_name(s, demand); };
        if (std::ranges::find(nominated, asked.job, owner_of) == nominated.end()) continue;
        const GangId gang = s.pods[pod].gang;
        desk.plan.eviction(
            {.pod = s.pod_name(pod),
             .node = std::string(s.node_name(s.pods[pod].node)),
             .uid = s.facts->pod(pod).uid,
             .unit = gang ? UnitKind::kWhole : UnitKind::kPod,
             .group = gang ? s.gang_name(gang) : "",
             .owner = asked.job,
             .action = to_text(action.kind),
             .mode = EvictionMode::kDelete,
             .pdb_violation = false,
             .stage = "",
             .reason = fmt::format("was asked to make room for {} at {}, and the deadline for that is over",
                                   asked.job,
                                   format_time(asked.since))});
    }
}

void withdraw_needless(Desk& desk) {
    const Snapshot& s = desk.snapshot();
    const std::vector<Asked> all = asked_to_go(s);
    if (all.empty()) return;
    const std::set<std::string> names = waiting_names(s);
    Plan part;
    for (const auto& [pod, asked] : all) {
        if (asked.job.empty() || names.contains(asked.job)) continue;
        part.annotations.push_back({.pod = s.pod_name(pod), .set = {}, .remove = {SoftEviction::kAnnotation}});
    }
    desk.plan.add(std::move(part));
}

}  // namespace reprieve
