// Limits: the most a queue and each of its ancestors may use (capability, max), and whether it takes pods at all.
#pragma once

#include <optional>
#include <string>

#include "model/verdict.h"
#include "state/snapshot.h"

namespace reprieve {

// Whether adding `amounts` keeps the whole path of the queue within its limits in this view.
[[nodiscard]] bool within_limits(const Snapshot& snapshot,
                                 const Occupancy& view,
                                 QueueId queue,
                                 std::span<const Resources::Amount> amounts);

// The sentence behind a "no": which queue, which resource, how much.
[[nodiscard]] std::string describe_limit(const Snapshot& snapshot,
                                         const Occupancy& view,
                                         QueueId queue,
                                         std::span<const Resources::Amount> amounts);

// Whether any dimension asked for is limited on the path at all.
[[nodiscard]] bool limited(const Snapshot& snapshot, QueueId queue, std::span<const Resources::Amount> amounts);

// Whether some limit counts the use of both queues.
[[nodiscard]] bool share_limit(const Snapshot& snapshot, QueueId a, QueueId b);

// Whether the queue exists and takes pods; else why not.
[[nodiscard]] Verdict queue_takes(const Snapshot& snapshot, PodId pod);

}  // namespace reprieve
