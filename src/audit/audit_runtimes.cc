#include "audit/audit_runtimes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "audit/fair_shares.h"

namespace reprieve {
namespace {

bool is_quota(const Case& judged, QueueId queue) {
    const QueueRow& row = judged.snapshot.queues[queue];
    return row.alive && row.fact != nullptr && row.fact->is_quota;
}

// Who is revoked together, and what each quota loses by other rules.
class RevokeJudge {
public:
    RevokeJudge(const Scene& later, FairShares& shares) : later_(later), judged_(later.judged()), shares_(shares) {
        for (const EvictedPod& victim : judged_.evicted) {
            if (victim.action == ActionKind::kRevoke) {
                if (victim.entry->group.empty()) continue;
                Group& group = groups_[victim.entry->group];
                group.pods.push_back(victim.pod);
                group.whole = group.whole || victim.entry->unit == UnitKind::kWhole;
            } else {
                count(victim.pod, otherwise_);
            }
        }
    }

    void judge(Report& report) {
        for (const EvictedPod& victim : judged_.evicted) {
            const QueueId quota = judged_.row(victim.pod).queue;
            if (victim.action != ActionKind::kRevoke || judged_.leaves(victim.pod)) continue;
            if (!quota || !is_quota(judged_, quota)) continue;  // said elsewhere
            if (had_to_go(victim, quota)) continue;
            report.add("quota",
                       victim.entry->pod,
                       fmt::format("queue {} is within its runtime without that", queue_name(judged_, quota)));
        }
    }

private:
    struct Group {
        std::vector<PodId> pods;
        bool whole = false;
        std::map<QueueId, bool> excess;  // by quota, once it was asked for
    };
    using Sums = std::map<QueueId, Resources>;

    // What the quotas above a pod would hold more, were it still there.
    void count(PodId pod, Sums& sums) const {
        const QueueId queue = judged_.row(pod).queue;
        if (judged_.leaves(pod) || !queue) return;
        for (const QueueId above : judged_.path(queue)) {
            sums[above].add(kPods, 1);
            for (const auto& [dim, value] : judged_.spec(pod).requests) {
                if (dim != kPods) sums[above].add(dim, value);
            }
        }
    }

    // A gang that is revoked whole comes back whole or not at all.
    bool had_to_go(const EvictedPod& victim, QueueId quota) {
        const auto at = groups_.find(victim.entry->group);
        if (at == groups_.end() || !at->second.whole) return is_excess(quota, {victim.pod});
        const auto [known, fresh] = at->second.excess.try_emplace(quota, false);
        if (fresh) known->second = is_excess(quota, at->second.pods);
        return known->second;
    }

    // With these back, and with those who went by other rules, the quota would hold more than its runtime.
    bool is_excess(QueueId quota, const std::vector<PodId>& back) {
        Sums returned;
        for (const PodId pod : back)
            count(pod, returned);
        return std::ranges::any_of(judged_.snapshot.queues[quota].fact->limit, [&](const Resources::Amount& limit) {
            const std::int64_t more = returned[quota].get(limit.dim);
            return more > 0 && later_.used(quota, limit.dim) + more + otherwise_[quota].get(limit.dim) >
                                   shares_.runtime(quota, limit.dim);
        });
    }

    const Scene& later_;
    const Case& judged_;
    FairShares& shares_;
    std::map<std::string_view, Group> groups_;
    Sums otherwise_;
};

// What the plan says about runtimes is what follows from the facts.
void judge_told(const Case& judged, FairShares& shares, Report& report) {
    for (const QueueId queue : IdRange<QueueId>(judged.snapshot.queues.size())) {
        if (!is_quota(judged, queue)) continue;
        const QueueReport* told = judged.told(queue);
        if (told == nullptr || !told->shares.contains("runtime")) continue;
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
    if (judged.config.plugins.quota.limit != QuotaLimit::kRuntime) return;
    for (const PlacedPod& item : judged.placed) {
        if (item.in_flight || !judged.row(item.pod).queue) continue;
        for (const QueueId quota : judged.path(judged.row(item.pod).queue)) {
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
    RevokeJudge(later, shares).judge(report);
}

}  // namespace reprieve
