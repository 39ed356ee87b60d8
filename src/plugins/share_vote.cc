#include "plugins/share_vote.h"

#include <algorithm>

namespace reprieve {

ShareVote::ShareVote(const Snapshot& s,
                     const Shares& shares,
                     QueueId reclaimer,
                     std::span<const Resources::Amount> demand)
    : VictimVote(s),
      shares_(shares),
      reclaimer_(reclaimer),
      demand_(demand.begin(), demand.end()) {
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

std::vector<QueueId> victim_queue_order(const Snapshot& snapshot, const Shares& shares, QueueId reclaimer) {
    std::vector<QueueId> out;
    for (QueueId q : IdRange<QueueId>(snapshot.queues.size())) {
        if (snapshot.queues[q].alive && q != reclaimer) out.push_back(q);
    }
    std::ranges::sort(out, [&](QueueId a, QueueId b) { return shares.gives_before(snapshot, a, b); });
    return out;
}

}  // namespace reprieve
