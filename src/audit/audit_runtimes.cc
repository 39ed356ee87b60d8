#include "audit/audit_runtimes.h"

#include <fmt/format.h>

#include <algorithm>

#include "audit/fair_shares.h"

namespace reprieve {
namespace {

bool is_quota(const Case& judged, QueueId queue) {
    const QueueRow& row = judged.snapshot.queues[queue];
    return row.alive && row.fact != nullptr && row.fact->is_quota;
}

bool is_below(const Case& judged, PodId pod, QueueId level) {
    if (!judged.row(pod).queue) return false;
    const std::vector<QueueId>& path = judged.snapshot.queue_path[judged.row(pod).queue];
    return std::ranges::find(path, level) != path.end();
}

// Whoever goes with this victim: its gang, if that is revoked whole.
std::vector<PodId> revoked_with(const Case& judged, const EvictedPod& victim) {
    std::vector<PodId> members;
    bool whole = false;
    for (const EvictedPod& other : judged.evicted) {
        if (other.action != ActionKind::kRevoke || other.entry->group != victim.entry->group) continue;
        members.push_back(other.pod);
        whole = whole || other.entry->unit == UnitKind::kWhole;
    }
    return !victim.entry->group.empty() && whole ? members : std::vector<PodId>{victim.pod};
}

// With these back, and with those who went by other rules, the quota would hold more than its runtime.
bool is_excess(const Scene& later, FairShares& shares, QueueId quota, const std::vector<PodId>& back) {
    const Case& judged = later.judged();
    const auto sum = [&](Dim dim, auto counts) {
        std::int64_t amount = 0;
        for (const EvictedPod& victim : judged.evicted) {
            if (!judged.leaves(victim.pod) && is_below(judged, victim.pod, quota) && counts(victim))
                amount += dim == kPods ? 1 : judged.spec(victim.pod).requests.get(dim);
        }
        return amount;
    };
    return std::ranges::any_of(judged.snapshot.queues[quota].fact->limit, [&](const Resources::Amount& limit) {
        const std::int64_t returned =
            sum(limit.dim, [&](const EvictedPod& victim) { return std::ranges::find(back, victim.pod) != back.end(); });
        const std::int64_t otherwise =
            sum(limit.dim, [](const EvictedPod& victim) { return victim.action != ActionKind::kRevoke; });
        return returned > 0 && later.used(quota, limit.dim) + returned + otherwise > shares.runtime(quota, limit.dim);
    });
}

void judge_revoked(const Scene& later, FairShares& shares, Report& report) {
    const Case& judged = later.judged();
    for (const EvictedPod& victim : judged.evicted) {
        const QueueId quota = judged.row(victim.pod).queue;
        if (victim.action != ActionKind::kRevoke || judged.leaves(victim.pod)) continue;
        if (!quota || !is_quota(judged, quota)) continue;  // said elsewhere
        if (is_excess(later, shares, quota, revoked_with(judged, victim))) continue;
        report.add("quota",
                   victim.entry->pod,
                   fmt::format("queue {} is within its runtime without that", queue_name(judged, quota)));
    }
}

// What the plan says about runtimes is what follows from the facts.
void judge_told(const Case& judged, FairShares& shares, Report& report) {
    for (const QueueId queue : IdRange<QueueId>(judged.snapshot.queues.size())) {
        if (!is_quota(judged, queue)) continue;
        const auto told = std::ranges::find(judged.plan.queues, queue_name(judged, queue), &QueueReport::name);
        if (told == judged.plan.queues.end() || !told->shares.contains("runtime")) continue;
        for (const auto& [resource, runtime] : told->shares.at("runtime")) {
            const std::int64_t due = shares.runtime(queue, judged.words.find_dimension(resource));
            if (runtime == due) continue;
            report.add("quota",
                       told->name,
                       fmt::format("has a runtime of {} of {}, and {} by the facts", runtime, resource, due));
        }
    }
}

void judge_limits(const Scene& later, FairShares& shares, Report& report) {
    const Case& judged = later.judged();
    if (judged.config.plugins.quota_limit != QuotaLimit::kRuntime) return;
    for (const PlacedPod& item : judged.placed) {
        if (item.in_flight || !judged.row(item.pod).queue) continue;
        for (const QueueId quota : judged.snapshot.queue_path[judged.row(item.pod).queue]) {
            if (!is_quota(judged, quota)) continue;
            for (const auto& [dim, limit] : judged.snapshot.queues[quota].fact->limit) {
                if (dim != kPods && judged.spec(item.pod).requests.get(dim) <= 0) continue;
                const std::int64_t runtime = shares.runtime(quota, dim);
                if (later.used(quota, dim) <= runtime) continue;
                report.add("queue-limit",
                           item.entry->pod,
                           fmt::format("queue {} would use {} of {}, its runtime is {}",
                                       queue_name(judged, quota),
                                       later.used(quota, dim),
                                       judged.words.text(dim),
                                       runtime));
            }
        }
    }
}

}  // namespace

void judge_runtimes(const Scene& later, Report& report) {
    if (!later.judged().has_quotas) return;
    FairShares shares(later.judged());
    judge_told(later.judged(), shares, report);
    judge_limits(later, shares, report);
    judge_revoked(later, shares, report);
}

}  // namespace reprieve
