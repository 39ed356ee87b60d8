// Why a queue does not get back, or does not give: by which rule, of which queue on the way up to the common ancestor.
#pragma once

#include <span>
#include <string>

#include "plugins/shares.h"
#include "state/snapshot.h"

namespace reprieve {

// Who asks, and for how much in all.
struct QueueDemand {
    QueueId queue;
    std::span<const Resources::Amount> need;
};

// By the shares of its own queues: "queue org2 would be above what it deserves: 3 of cpu instead of 2". Empty: it may.
[[nodiscard]] std::string why_may_not_reclaim(const Snapshot& snapshot,
                                              const Shares& shares,
                                              const QueueDemand& demand,
                                              QueueId victim);
// "queue a is in queue org1, which is above its share by 1 of cpu, and that is not enough".
[[nodiscard]] std::string why_queue_keeps(const Snapshot& snapshot,
                                          const Shares& shares,
                                          const QueueDemand& demand,
                                          QueueId victim);
// The same, where it gives nothing at all; empty: it gives something.
[[nodiscard]] std::string why_queue_gives_nothing(const Snapshot& snapshot,
                                                  const Shares& shares,
                                                  const QueueDemand& demand,
                                                  QueueId victim);
// "quota b holds 4 of cpu, no more than its minimum of 4". Empty: its minimum is not what keeps it.
[[nodiscard]] std::string why_quota_keeps(const Snapshot& snapshot, const QueueDemand& demand, QueueId victim);

}  // namespace reprieve
