// ShareVote: which of the ordered candidates reclaim may take, by the queues' shares; cumulative, one vote for all.
//
// The reclaimer's queue must stay within its deserved in every listed dimension it asks for, at each level below the
// common ancestor with the victim's queue. A victim's queue gives only while it is above its deserved in some dimension
// asked for, before the unit goes, and never below its guarantee, at each level below the common ancestor.
#pragma once

#include <span>
#include <vector>

#include "plugins/shares.h"
#include "state/snapshot.h"

namespace reprieve {

class ShareVote {
public:
    // `demand`: what the reclaimer asks for in all. Use is taken as it stands now, without those who are leaving.
    ShareVote(const Snapshot& snapshot,
              const Shares& shares,
              QueueId reclaimer,
              std::span<const Resources::Amount> demand);

    // Starts a new vote: nothing is given yet.
    void reset();
    // Whether these pods may go on top of those accepted before; accepting counts them.
    [[nodiscard]] bool accept(std::span<const PodId> pods);
    // Whether this queue may reclaim from the other at all.
    [[nodiscard]] bool may_reclaim_from(QueueId victim) const;

private:
    [[nodiscard]] std::vector<QueueId> levels_below_common(QueueId of, QueueId other) const;
    [[nodiscard]] std::int64_t used(QueueId queue, Dim dim) const;

    const Snapshot& snapshot_;
    const Shares& shares_;
    QueueId reclaimer_;
    std::vector<Resources::Amount> demand_;
    std::vector<std::int64_t> base_;   // queue x dim: use when the vote was called
    std::vector<std::int64_t> given_;  // queue x dim
};

// Most over its share first: lower Queue.priority, then higher dominant used/deserved, then name.
[[nodiscard]] std::vector<QueueId> victim_queue_order(const Snapshot& snapshot,
                                                      const Shares& shares,
                                                      QueueId reclaimer);

}  // namespace reprieve
