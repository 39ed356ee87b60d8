#include "plugins/quota_reserve.h"

#include <algorithm>
#include <map>

#include "state/cluster.h"

namespace reprieve {

QuotaReserve::QuotaReserve(const Snapshot& s, QuotaKinds kinds) : kinds_(kinds), dims_(s.dims) {
    for (const Job& job : waiting_jobs(s)) {
        if (!is_admissible(s, job)) continue;
        waiting_.resize(s.queues.size() * dims_);
        for (QueueId q : s.queue_path[job.queue]) {
            for (const auto& [dim, value] : job.asked)
                waiting_[q.index() * dims_ + dim.index()] += value;
        }
    }
    if (waiting_.empty()) return;
    promise(s, s.now, promised_now_);
    promise(s, s.later, promised_later_);
}

// Single pods, and gangs that have enough members; a gang is one job.
std::vector<QuotaReserve::Job> QuotaReserve::waiting_jobs(const Snapshot& s) const {
    std::vector<Job> jobs;
    std::map<GangId, std::size_t> of_gang;
    std::map<GangId, std::int32_t> members;
    for (PodId pod : s.facts->pending()) {
        const PodRow& row = s.pods[pod];
        const bool in_gang = row.gang && s.gangs[row.gang].min > 0;
        if (in_gang) ++members[row.gang];
        if (!row.queue || !s.queues[row.queue].takes_pods() || !kinds_.is_fixed(s.classes[row.cls])) continue;
        std::size_t at = jobs.size();
        if (in_gang) at = of_gang.try_emplace(row.gang, at).first->second;
        if (at == jobs.size()) jobs.push_back({.queue = row.queue, .asked = {}});
        for (const auto& [dim, value] : s.classes[row.cls].requests)
            jobs[at].asked.add(dim, value);
    }
    for (const auto& [gang, at] : of_gang) {
        if (members[gang] < s.gangs[gang].lacks()) jobs[at].asked = {};
    }
    return jobs;
}

bool QuotaReserve::is_admissible(const Snapshot& s, const Job& job) const {
    return std::ranges::all_of(s.queue_path[job.queue], [&](QueueId q) {
        const Queue* fact = s.queues[q].fact;
        if (fact == nullptr || !fact->is_quota) return true;
        return std::ranges::all_of(job.asked, [&](const auto& a) {
            const std::int64_t* least = fact->guarantee.find(a.dim);
            return least == nullptr || saturating_add(kinds_.fixed_use(s.later, q, a.dim), a.value) <= *least;
        });
    });
}

void QuotaReserve::promise(const Snapshot& s, const Occupancy& view, std::vector<std::int64_t>& out) const {
    out.resize(waiting_.size());
    for (QueueId q : IdRange<QueueId>(s.queues.size())) {
        const Queue* fact = s.queues[q].fact;
        if (fact == nullptr || !fact->is_quota) continue;
        for (const auto& [dim, least] : fact->guarantee) {
            const std::size_t at = q.index() * dims_ + dim.index();
            if (waiting_[at] > 0) out[at] = std::min(least, kinds_.fixed_use(view, q, dim) + waiting_[at]);
        }
    }
}

std::int64_t QuotaReserve::kept(
    const Snapshot& s, const Occupancy& view, QueueId quota, Dim dim, std::int64_t coming) const {
    if (waiting_.empty()) return 0;
    const std::vector<std::int64_t>& promised = &view == &s.now ? promised_now_ : promised_later_;
    return std::max<std::int64_t>(
        0, promised[quota.index() * dims_ + dim.index()] - kinds_.fixed_use(view, quota, dim) - coming);
}

}  // namespace reprieve
