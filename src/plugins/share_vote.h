// ShareVote: what reclaim may take, by the queues' shares.
//
// The reclaimer's queue must stay within its deserved in every listed dimension it asks for, at each level below the
// common ancestor with the victim's queue. A victim's queue gives only while it is above its deserved in some dimension
// asked for, before the unit goes, and never below its guarantee, at each level below the common ancestor.
#pragma once

#include <span>
#include <vector>

#include "plugins/shares.h"
#include "plugins/victim_vote.h"

namespace reprieve {

class ShareVote final : public VictimVote {
public:
    // `demand`: what the reclaimer asks for in all.
    ShareVote(const Snapshot& snapshot,
              const Shares& shares,
              QueueId reclaimer,
              std::span<const Resources::Amount> demand);

    // Whether this queue may reclaim from the other at all.
    [[nodiscard]] bool may_reclaim_from(QueueId victim) const;

private:
    [[nodiscard]] bool may_give(const Part& part) override;

    const Shares& shares_;
    QueueId reclaimer_;
    std::vector<Resources::Amount> demand_;
};

// Most over its share first: lower Queue.priority, then higher dominant used/deserved, then name.
[[nodiscard]] std::vector<QueueId> victim_queue_order(const Snapshot& snapshot,
                                                      const Shares& shares,
                                                      QueueId reclaimer);

}  // namespace reprieve
