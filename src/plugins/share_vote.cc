#include "plugins/share_vote.h"

#include <algorithm>

#include "base/wide.h"

namespace reprieve {

ShareVote::ShareVote(const Snapshot& s,
                     const Shares& shares,
                     QueueId reclaimer,
                     std::span<const Resources::Amount> demand,
                     bool whole_below)
    : VictimVote(s),
      shares_(shares),
      reclaimer_(reclaimer),
      demand_(demand.begin(), demand.end()),
      whole_below_(whole_below) {
    std::erase_if(demand_, [](const auto& a) { return a.dim == kPods || a.value <= 0; });
}

bool ShareVote::may_reclaim_from(QueueId victim) const {
    bool listed = false;
    for (QueueId q : levels_below_common(snapshot(), reclaimer_, victim)) {
        for (const auto& [dim, value] : demand_) {
            const std::int64_t* share = shares_.deserved(q, dim);
            if (share == nullptr) continue;
            listed = true;
            if (used_before(q, dim) + value > *share) return false;
        }
    }
    return listed;
}

bool ShareVote::may_give(const Part& part) {
    if (!may_reclaim_from(part.queue)) return false;
    return std::ranges::all_of(levels_below_common(snapshot(), part.queue, reclaimer_), [&](QueueId q) {
        const bool above = std::ranges::any_of(demand_, [&](const auto& a) {
            const std::int64_t* share = shares_.deserved(q, a.dim);
            return share != nullptr && used(q, a.dim) > *share;
        });
        return above && !breaks_guarantee(q, part.amounts);
    });
}

std::pair<std::int64_t, std::int64_t> ShareVote::coverage(PodId pod) const {
    constexpr std::int64_t kWhole = 1'000'000;
    std::int64_t covered = 0;
    std::int64_t size = 0;
    for (const auto& [dim, need] : demand_) {
        for (const auto& held : snapshot().class_of(pod).requests) {
            if (held.dim != dim) continue;
            covered = saturating_add(covered, multiply_divide(std::min(held.value, need), kWhole, need));
            size = saturating_add(size, multiply_divide(held.value, kWhole, need));
        }
    }
    return {covered, size};
}

// As the pods of a bundle are ordered: who covers most of the need first, lower priority, smaller, younger, later name.
bool ShareVote::one_by_one(std::vector<PodId>& pods) const {
    if (whole_below_) return false;
    std::ranges::sort(pods, [&](PodId a, PodId b) {
        const auto [covered_a, size_a] = coverage(a);
        const auto [covered_b, size_b] = coverage(b);
        const PodRow& x = snapshot().pods[a];
        const PodRow& y = snapshot().pods[b];
        if (covered_a != covered_b) return covered_a > covered_b;
        if (x.priority != y.priority) return x.priority < y.priority;
        if (size_a != size_b) return size_a < size_b;
        if (x.started != y.started) return x.started > y.started;
        return snapshot().name_less(b, a);
    });
    return true;
}

std::vector<QueueId> victim_queue_order(const Snapshot& snapshot, const Shares& shares, QueueId reclaimer) {
    std::vector<QueueId> out;
    for (QueueId q : IdRange<QueueId>(snapshot.queues.size())) {
        if (snapshot.queues[q].alive && q != reclaimer) out.push_back(q);
    }
    std::ranges::sort(out, [&](QueueId a, QueueId b) { return shares.gives_before(snapshot, a, b); });
    return out;
}

}  // namespace reprieve
