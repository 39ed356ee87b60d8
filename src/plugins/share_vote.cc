#include "plugins/share_vote.h"

#include <algorithm>

namespace reprieve {

ShareVote::ShareVote(const Snapshot& snapshot,
                     const Shares& shares,
                     QueueId reclaimer,
                     std::span<const Resources::Amount> demand)
    : snapshot_(snapshot),
      shares_(shares),
      reclaimer_(reclaimer),
      demand_(demand.begin(), demand.end()) {
    std::erase_if(demand_, [](const auto& a) { return a.dim == kPods || a.value <= 0; });
    for (QueueId q : IdRange<QueueId>(snapshot.queues.size())) {
        for (Dim dim : IdRange<Dim>(snapshot.dims))
            base_.push_back(snapshot.later.queue_used(q, dim));
    }
    reset();
}

void ShareVote::reset() { given_.assign(snapshot_.queues.size() * snapshot_.dims, 0); }

std::int64_t ShareVote::used(QueueId queue, Dim dim) const {
    const std::size_t at = queue.index() * snapshot_.dims + dim.index();
    return base_[at] - given_[at];
}

std::vector<QueueId> ShareVote::levels_below_common(QueueId of, QueueId other) const {
    const std::vector<QueueId>& path = snapshot_.queue_path[other];
    std::vector<QueueId> out;
    for (QueueId q : snapshot_.queue_path[of]) {
        if (std::ranges::find(path, q) != path.end()) break;
        out.push_back(q);
    }
    return out;
}

bool ShareVote::may_reclaim_from(QueueId victim) const {
    bool listed = false;
    for (QueueId q : levels_below_common(reclaimer_, victim)) {
        for (const auto& [dim, value] : demand_) {
            const std::int64_t* share = shares_.deserved(q, dim);
            if (share == nullptr) continue;
            listed = true;
            if (base_[q.index() * snapshot_.dims + dim.index()] + value > *share) return false;
        }
    }
    return listed;
}

bool ShareVote::accept(std::span<const PodId> pods) {
    // Pods of one unit may sit in several queues; each gives its part.
    std::vector<std::pair<QueueId, Resources>> parts;
    for (PodId pod : pods) {
        const QueueId queue = snapshot_.pods[pod].queue;
        auto at = std::ranges::find(parts, queue, &std::pair<QueueId, Resources>::first);
        if (at == parts.end()) at = parts.insert(parts.end(), {queue, {}});
        for (const auto& [dim, value] : snapshot_.class_of(pod).requests)
            at->second.add(dim, value);
    }
    for (const auto& [queue, amounts] : parts) {
        if (!queue || !may_reclaim_from(queue)) return false;
        for (QueueId q : levels_below_common(queue, reclaimer_)) {
            const bool above = std::ranges::any_of(demand_, [&](const auto& a) {
                const std::int64_t* share = shares_.deserved(q, a.dim);
                return share != nullptr && used(q, a.dim) > *share;
            });
            if (!above) return false;
            const Queue* fact = snapshot_.queues[q].fact;
            if (fact == nullptr) continue;
            for (const auto& [dim, floor] : fact->guarantee) {
                if (amounts.get(dim) > 0 && used(q, dim) - amounts.get(dim) < floor) return false;
            }
        }
    }
    for (const auto& [queue, amounts] : parts) {
        for (QueueId q : snapshot_.queue_path[queue]) {
            for (const auto& [dim, value] : amounts)
                given_[q.index() * snapshot_.dims + dim.index()] += value;
        }
    }
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
