#include "plugins/quota_vote.h"

#include <algorithm>

namespace reprieve {

QuotaVote::QuotaVote(const Snapshot& s, QuotaKinds kinds, const QuotaJob& job)
    : VictimVote(s),
      kinds_(kinds),
      job_(job) {
    // Without anything of its own use it must at least stay within its minimum.
    const Queue* own = job.queue ? s.queues[job.queue].fact : nullptr;
    if (own == nullptr || !own->is_quota) return;
    bool any = false;
    has_minimum_ = std::ranges::all_of(job.asked, [&](const auto& a) {
        if (!own->guarantee.lists(a.dim) && !own->limit.lists(a.dim)) return true;
        any = any || a.dim != kPods;
        return a.value <= own->guarantee.get(a.dim);
    });
    has_minimum_ = has_minimum_ && any;
}

bool QuotaVote::in_quota(QueueId queue) const {
    return std::ranges::any_of(snapshot().queue_path[queue], [&](QueueId q) {
        return snapshot().queues[q].fact != nullptr && snapshot().queues[q].fact->is_quota;
    });
}

bool QuotaVote::may_take(PodId pod) const {
    const PodRow& row = snapshot().pods[pod];
    if (kinds_.is_fixed(snapshot().classes[row.cls]) || !row.queue) return false;
    const bool lower = row.unit_priority < job_.priority;
    if (is_own(row.queue)) return lower || job_.fixed;
    if (in_quota(row.queue)) return has_minimum_;
    // Queues of other kinds keep their pods to themselves; `default` is nobody's.
    const bool job_outside = job_.queue && snapshot().queues[job_.queue].fact != nullptr && !in_quota(job_.queue);
    return lower && snapshot().queues[row.queue].fact == nullptr && !job_outside;
}

void QuotaVote::reset() {
    VictimVote::reset();
    returning_to_.clear();
}

bool QuotaVote::may_give(const Part& part) {
    if (is_own(part.queue) || !in_quota(part.queue)) return true;
    if (!has_minimum_) return false;
    for (QueueId q : levels_below_common(part.queue, job_.queue)) {
        if (breaks_guarantee(q, part.amounts)) return false;
    }
    std::vector<QueueId> levels = levels_below_common(job_.queue, part.queue);
    if (levels.empty()) levels.push_back(job_.queue);
    for (QueueId q : levels) {
        if (std::ranges::find(returning_to_, q) == returning_to_.end()) returning_to_.push_back(q);
    }
    return true;
}

// Whoever takes from others ends within its own minimum. An ancestor that sets no minimum for a dimension sets none.
bool QuotaVote::returns_to(QueueId level) const {
    const Queue* fact = snapshot().queues[level].fact;
    if (fact == nullptr || !fact->is_quota) return true;
    return std::ranges::all_of(job_.asked, [&](const auto& a) {
        const std::int64_t* least = fact->guarantee.find(a.dim);
        if (least == nullptr) return !is_own(level) || !fact->limit.lists(a.dim);
        return used(level, a.dim) + a.value <= *least;
    });
}

bool QuotaVote::passes() const {
    return std::ranges::all_of(returning_to_, [&](QueueId q) { return returns_to(q); });
}

}  // namespace reprieve
