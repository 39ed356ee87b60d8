// Shares: what each queue deserves, and the order of queues that follows from it.
//
// Deserved is what the queue says, or its proportion by weight of what its parent has (the cluster for top queues), in
// exact integers: queues by (request, name) get min(request, weight * left / weights left); then the remainder goes by
// (weight descending, name) up to the request.
#pragma once

#include <cstdint>
#include <vector>

#include "state/snapshot.h"

namespace reprieve {

class Shares {
public:
    explicit Shares(const Snapshot& snapshot);

    // Null: the dimension is not compared for this queue.
    [[nodiscard]] const std::int64_t* deserved(QueueId queue, Dim dim) const;
    [[nodiscard]] const Resources& deserved(QueueId queue) const { return deserved_[queue]; }

    // Whether queue `a` is to be served before `b`, compared at the first level below their common ancestor.
    [[nodiscard]] bool serve_before(const Snapshot& snapshot, QueueId a, QueueId b) const;
    // Whether queue `a` gives before `b`: lower priority, then further over its share, then name.
    [[nodiscard]] bool gives_before(const Snapshot& snapshot, QueueId a, QueueId b) const;

private:
    void divide(const Snapshot& snapshot, const std::vector<QueueId>& siblings, const Resources& total);
    // -1, 0, 1 by how much of its share each uses.
    [[nodiscard]] int compare_use(const Snapshot& snapshot, QueueId a, QueueId b) const;
    [[nodiscard]] bool compare(const Snapshot& snapshot, QueueId a, QueueId b, bool giving) const;

    IdVector<QueueId, Resources> deserved_;
    IdVector<QueueId, Resources> asked_;
};

}  // namespace reprieve
