// ShareVote: what reclaim may take, by the queues' shares.
//
// The reclaimer's queue must stay within its deserved in every listed dimension it asks for, at each level below the
// common ancestor with the victim's queue. A victim's queue gives only while it is above its deserved in some dimension
// asked for, before each pod goes, and never below its guarantee, at each level below the common ancestor. So a gang
// that goes whole needs a queue that is above its share until the last of its pods.
#pragma once

#include <span>
#include <vector>

#include "plugins/shares.h"
#include "plugins/victim_vote.h"

namespace reprieve {

class ShareVote final : public VictimVote {
public:
    // `demand`: what the reclaimer asks for in all. `whole_below`: a gang goes if its queue is above before the first
    // of its pods does.
    ShareVote(const Snapshot& snapshot,
              const Shares& shares,
              QueueId reclaimer,
              std::span<const Resources::Amount> demand,
              bool whole_below = false);

    // Whether this queue may reclaim from the other at all.
    [[nodiscard]] bool may_reclaim_from(QueueId victim) const;

private:
    [[nodiscard]] bool may_give(const Part& part) override;
    [[nodiscard]] bool one_by_one(std::vector<PodId>& pods) const override;
    // How much of the demand the pod covers, and what it holds of it in all; in millionths of the demand.
    [[nodiscard]] std::pair<std::int64_t, std::int64_t> coverage(PodId pod) const;

    const Shares& shares_;
    QueueId reclaimer_;
    std::vector<Resources::Amount> demand_;
    bool whole_below_;
};

// Most over its share first: lower Queue.priority, then higher dominant used/deserved, then name.
[[nodiscard]] std::vector<QueueId> victim_queue_order(const Snapshot& snapshot,
                                                      const Shares& shares,
                                                      QueueId reclaimer);

}  // namespace reprieve
