// Queues: their limits on the whole path, whether they take pods at all, and who may take from whom.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "audit/rules.h"

namespace reprieve {

std::string_view queue_name(const Case& judged, QueueId queue) {
    return judged.words.text(judged.snapshot.queues[queue].name);
}

QueueId common_ancestor(const Case& judged, QueueId a, QueueId b) {
    for (const QueueId above : judged.path(a)) {
        if (judged.is_below(b, above)) return above;
    }
    return {};
}

std::vector<QueueId> path_below(const Case& judged, QueueId queue, QueueId ancestor) {
    std::vector<QueueId> path = judged.path(queue);
    path.erase(std::ranges::find(path, ancestor), path.end());
    return path;
}

std::set<Dim> asked_by(const Case& judged, const std::vector<const PlacedPod*>& pods) {
    std::set<Dim> dims;
    for (const PlacedPod* item : pods) {
        for (const auto& [dim, value] : judged.spec(item->pod).requests) {
            if (value > 0 && dim != kPods) dims.insert(dim);
        }
    }
    return dims;
}

std::int64_t use_with(const Scene& later, QueueId queue, Dim dim, const std::vector<const PlacedPod*>& own) {
    std::int64_t use = later.used(queue, dim) - later.placed(queue, dim);
    for (const PlacedPod* item : own) {
        if (later.judged().is_below(later.judged().row(item->pod).queue, queue))
            use += later.amount(later.seat(item->pod), dim);
    }
    return use;
}

namespace {

// Non-preemptible pods of a quota that wait without a place: room up to the quota's guarantee is kept for them.
std::int64_t kept_for_waiting(const Scene& scene, QueueId quota, Dim dim) {
    return std::min(scene.waiting(quota, dim), scene.judged().snapshot.queues[quota].fact->guarantee.get(dim));
}

void judge_reclaimer(const Scene& later, const EvictedPod& victim, QueueId queue, QueueId meet, Report& report) {
    const Case& judged = later.judged();
    const auto& own = judged.placements_for(victim.entry->owner);
    for (const QueueId level : path_below(judged, queue, meet)) {
        const Queue* fact = judged.snapshot.queues[level].fact;
        if (fact == nullptr || !fact->deserved) continue;
        for (const Dim dim : asked_by(judged, own)) {
            const std::int64_t* deserved = fact->deserved->find(dim);
            const std::int64_t use = use_with(later, level, dim, own);
            if (deserved == nullptr || use <= *deserved) continue;
            report.add("reclaim",
                       victim.entry->owner,
                       fmt::format("queue {} would use {} of {} and deserves {}",
                                   queue_name(judged, level),
                                   use,
                                   judged.words.text(dim),
                                   *deserved));
        }
    }
}

void judge_guarantee(const Scene& later, const EvictedPod& victim, QueueId queue, QueueId meet, Report& report) {
    const Case& judged = later.judged();
    const std::set<Dim> asked = asked_by(judged, judged.placements_for(victim.entry->owner));
    for (const QueueId level : path_below(judged, queue, meet)) {
        const Queue* fact = judged.snapshot.queues[level].fact;
        if (fact == nullptr) continue;
        for (const auto& [dim, least] : fact->guarantee) {
            if (!asked.contains(dim) || judged.spec(victim.pod).requests.get(dim) == 0) continue;
            if (later.used(level, dim) >= least) continue;
            report.add("reclaim",
                       victim.entry->pod,
                       fmt::format("queue {} is left with {} of {}, {} are guaranteed",
                                   queue_name(judged, level),
                                   later.used(level, dim),
                                   judged.words.text(dim),
                                   least));
        }
    }
}

// What the plan grants to the queue of a pod bounds what it places there. Promises of earlier plans are kept.
void judge_grant(const Scene& scene, PodId pod, Findings& out) {
    const Case& judged = scene.judged();
    if (scene.view() != Moment::kLater || !judged.waits(pod) || judged.fact(pod).nominated) return;
    if (std::string excess = exceeds_grant(scene, pod); !excess.empty())
        out.push_back({"queue-grant", std::move(excess)});
}

}  // namespace

std::string exceeds_grant(const Scene& scene, PodId pod) {
    const Case& judged = scene.judged();
    const QueueId queue = judged.row(pod).queue;
    if (!queue) return "";
    const QueueReport* told = judged.told(queue);
    if (told == nullptr || !told->shares.contains("preempting")) return "";
    for (const auto& [resource, granted] : told->shares.at("allocated")) {
        const Dim dim = judged.words.find_dimension(resource);
        if (!dim || judged.spec(pod).requests.get(dim) <= 0 || scene.used(queue, dim) <= granted) continue;
        return fmt::format("queue {} would use {} of {} and is granted {}",
                           queue_name(judged, queue),
                           scene.used(queue, dim),
                           resource,
                           granted);
    }
    return "";
}

void judge_queue_limits(const Scene& scene, PodId pod, Certainty certainty, Findings& out) {
    const Case& judged = scene.judged();
    if (!judged.row(pod).queue) return;
    judge_grant(scene, pod, out);
    for (const QueueId queue : judged.path(judged.row(pod).queue)) {
        const Queue* fact = judged.snapshot.queues[queue].fact;
        if (fact == nullptr) continue;
        judge_quota_minimum(scene, pod, queue, out);
        for (const auto& [dim, limit] : fact->limit) {
            if (dim != kPods && judged.spec(pod).requests.get(dim) <= 0) continue;
            std::int64_t used = scene.used(queue, dim);
            if (certainty == Certainty::kOfFit && fact->is_quota)
                used = saturating_add(used, kept_for_waiting(scene, queue, dim));
            if (used <= limit) continue;
            out.push_back({"queue-limit",
                           fmt::format("queue {} would use {} of {}, its limit is {}",
                                       queue_name(judged, queue),
                                       used,
                                       judged.words.text(dim),
                                       limit)});
        }
    }
}

void judge_queues(const Case& judged, Report& report) {
    for (const PlacedPod& item : judged.placed) {
        if (item.in_flight) continue;
        const PodRow& row = judged.row(item.pod);
        if (row.has(kGroupMissing)) report.add("group-missing", item.entry->pod, "names a group that does not exist");
        if (row.has(kQueueMissing)) report.add("queue-missing", item.entry->pod, "names a queue that does not exist");
        if (row.queue && !judged.snapshot.queues[row.queue].takes_pods()) {
            report.add(
                "queue-closed", item.entry->pod, fmt::format("queue {} takes no pods", queue_name(judged, row.queue)));
        }
    }
}

void judge_reclaims(const Scene& later, Report& report) {
    const Case& judged = later.judged();
    std::set<std::pair<std::string_view, QueueId>> asked;  // owners, and up to where they were judged
    for (const EvictedPod& item : judged.evicted) {
        if (item.action != ActionKind::kGangReclaim || !judged.owner(item.entry->owner).known()) continue;
        const auto& own = judged.placements_for(item.entry->owner);
        const QueueId mine = own.empty() ? QueueId() : judged.row(own.front()->pod).queue;
        const QueueId theirs = judged.row(item.pod).queue;
        if (!mine || !theirs) continue;
        const Queue* fact = judged.snapshot.queues[theirs].fact;
        if (mine == theirs) {
            report.add("reclaim", item.entry->pod, "is in the queue it would be reclaimed for");
            continue;
        }
        if (fact != nullptr && !fact->reclaimable) {
            report.add(
                "reclaim", item.entry->pod, fmt::format("queue {} is not reclaimable", queue_name(judged, theirs)));
        }
        const QueueId meet = common_ancestor(judged, mine, theirs);
        if (asked.emplace(item.entry->owner, meet).second) judge_reclaimer(later, item, mine, meet, report);
        judge_guarantee(later, item, theirs, meet, report);
    }
}

}  // namespace reprieve
