// Quotas: non-preemptible pods within the minimum, and who may evict whom by the rules of quotas.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "audit/audit_runtimes.h"
#include "audit/rules.h"
#include "model/soft_eviction.h"

namespace reprieve {
namespace {

bool in_quota(const Case& judged, QueueId queue) {
    return queue && std::ranges::any_of(judged.path(queue), [&](QueueId above) {
               const Queue* fact = judged.snapshot.queues[above].fact;
               return fact != nullptr && fact->is_quota;
           });
}

// What queues give to their own or by other rules, by queue: what a quota gives to its own is its own affair.
using Given = std::map<QueueId, Resources>;

Given given_to_their_own(const Case& judged) {
    Given given;
    for (const EvictedPod& victim : judged.evicted) {
        const QueueId theirs = judged.row(victim.pod).queue;
        if (judged.leaves(victim.pod) || !theirs) continue;
        const auto& own = judged.placements_for(victim.entry->owner);
        for (const QueueId level : judged.path(theirs)) {
            const bool for_others = victim.action == ActionKind::kJobPreempt && !own.empty() &&
                                    !judged.is_below(judged.row(own.front()->pod).queue, level);
            if (!for_others) given[level].add(judged.spec(victim.pod).requests);
        }
    }
    return given;
}

// Other quotas return only what they hold above their minimums.
void judge_return(
    const Scene& later, const Given& given, const EvictedPod& victim, QueueId mine, QueueId theirs, Report& report) {
    const Case& judged = later.judged();
    for (const QueueId level : path_below(judged, theirs, common_ancestor(judged, mine, theirs))) {
        const Queue* fact = judged.snapshot.queues[level].fact;
        if (fact == nullptr) continue;
        for (const auto& [dim, least] : fact->guarantee) {
            if (judged.spec(victim.pod).requests.get(dim) == 0) continue;
            std::int64_t left = later.used(level, dim);
            if (const auto own = given.find(level); own != given.end()) left += own->second.get(dim);
            if (left >= least) continue;
            report.add("quota",
                       victim.entry->pod,
                       fmt::format("queue {} is left with {} of {}, its minimum is {}",
                                   queue_name(judged, level),
                                   left,
                                   judged.words.text(dim),
                                   least));
        }
    }
}

// Who takes from other quotas stays within its own minimum.
void judge_taker(const Scene& later, const EvictedPod& victim, QueueId mine, Report& report) {
    const Case& judged = later.judged();
    const Queue* fact = judged.snapshot.queues[mine].fact;
    if (fact == nullptr || !fact->is_quota)
        return report.add("quota", victim.entry->pod, fmt::format("{} is in no quota", victim.entry->owner));
    const auto& own = judged.placements_for(victim.entry->owner);
    for (const Dim dim : asked_by(judged, own)) {
        if (!fact->guarantee.lists(dim) && !fact->limit.lists(dim)) continue;
        const std::int64_t use = use_with(later, mine, dim, own);
        if (use <= fact->guarantee.get(dim)) continue;
        report.add("quota",
                   victim.entry->owner,
                   fmt::format("takes from other quotas while queue {} holds {} of {}, its minimum is {}",
                               queue_name(judged, mine),
                               use,
                               judged.words.text(dim),
                               fact->guarantee.get(dim)));
    }
}

void judge_trigger(const Case& judged, const EvictedPod& victim, PodId member, Report& report) {
    const std::optional<bool>& label = judged.fact(member).more().can_preempt;
    const bool needs_label = judged.configured(
        ActionKind::kJobPreempt, [](const ActionConfig& a) { return a.disable_default_trigger_preemption; });
    if (label == false || (!label && needs_label)) {
        report.add("quota", victim.entry->pod, fmt::format("{} may not preempt by its label", victim.entry->owner));
    }
}

void judge_job_victim(const Scene& later, const Given& given, const EvictedPod& victim, Report& report) {
    const Case& judged = later.judged();
    const auto& own = judged.placements_for(victim.entry->owner);
    if (own.empty()) return;
    const PodId member = own.front()->pod;
    const QueueId mine = judged.row(member).queue;
    const QueueId theirs = judged.row(victim.pod).queue;
    judge_trigger(judged, victim, member, report);
    if (judged.is_fixed(victim.pod)) report.add("quota", victim.entry->pod, "is non-preemptible");
    if (mine != theirs && in_quota(judged, theirs)) {
        judge_taker(later, victim, mine, report);
        return judge_return(later, given, victim, mine, theirs, report);
    }
    const bool lower = judged.standings.as_victim(victim.pod) < judged.standing(judged.owner(victim.entry->owner));
    const bool by_right = mine == theirs && judged.is_fixed(member);
    if (!lower && !by_right) report.add("priority", victim.entry->pod, "is not of lower priority");
}

// A quota gives back to others only after it was above its runtime for long enough.
void judge_revoked(const Case& judged, const EvictedPod& victim, Report& report) {
    const QueueId queue = judged.row(victim.pod).queue;
    const Queue* fact = queue ? judged.snapshot.queues[queue].fact : nullptr;
    if (fact == nullptr || !fact->is_quota) return report.add("quota", victim.entry->pod, "is revoked and in no quota");
    if (judged.is_fixed(victim.pod)) report.add("quota", victim.entry->pod, "is non-preemptible");
    const Duration over = fact->over_since.is_set() ? judged.snapshot.now_time - fact->over_since : Duration{};
    if (!judged.configured(ActionKind::kRevoke, [&](const ActionConfig& a) { return over >= a.delay_evict_time; }))
        report.add("quota", victim.entry->pod, fmt::format("queue {} still has time", queue_name(judged, queue)));
}

// Whoever was asked to go is spoken free only if nobody waits for its room.
void judge_withdrawals(const Case& judged, Report& report) {
    for (const AnnotationChange& change : judged.plan.annotations) {
        if (std::ranges::find(change.remove, SoftEviction::kAnnotation) == change.remove.end()) continue;
        const PodId pod = judged.find_pod(change.pod);
        const auto asked = pod ? soft_eviction_of(judged.fact(pod)) : std::nullopt;
        if (!asked || asked->initiator != SoftEviction::kOurs) {
            report.add("soft-eviction", change.pod, "was not asked to go by us");
            continue;
        }
        const Owner job = judged.owner(asked->job);
        const bool waits = job.gang ? std::ranges::any_of(judged.snapshot.gangs[job.gang].pods,
                                                          [&](PodId member) { return judged.waits(member); })
                                    : job.pod && judged.waits(job.pod);
        if (waits) report.add("soft-eviction", change.pod, fmt::format("is needed: {} waits", asked->job));
    }
}

}  // namespace

void judge_quota_minimum(const Scene& scene, PodId pod, QueueId quota, Findings& out) {
    const Case& judged = scene.judged();
    const Queue& fact = *judged.snapshot.queues[quota].fact;
    if (!fact.is_quota || !judged.is_fixed(pod)) return;
    for (const auto& [dim, least] : fact.guarantee) {
        const std::int64_t held = scene.fixed(quota, dim);
        if (judged.spec(pod).requests.get(dim) <= 0 || held <= least) continue;
        out.push_back({"quota-minimum",
                       fmt::format("non-preemptible pods of queue {} would use {} of {}, its minimum is {}",
                                   queue_name(judged, quota),
                                   held,
                                   judged.words.text(dim),
                                   least)});
    }
}

void judge_quota_evictions(const Scene& later, Report& report) {
    const Given given = given_to_their_own(later.judged());
    for (const EvictedPod& victim : later.judged().evicted) {
        if (later.judged().leaves(victim.pod)) continue;
        if (victim.action == ActionKind::kJobPreempt) judge_job_victim(later, given, victim, report);
        if (victim.action == ActionKind::kRevoke) judge_revoked(later.judged(), victim, report);
    }
    judge_withdrawals(later.judged(), report);
    judge_runtimes(later, report);
}

}  // namespace reprieve
