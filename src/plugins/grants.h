// Grants: what queueBalance gives each weighted queue.
//
// Worked out from the facts alone, per resource: what a queue deserves, what of it is granted now, and what others
// still hold of it. For every resource the sum of `allocated` and `preempting` over all queues is the sum of
// `deserved`. Only Volcano queues without children hold pods and take part; pods of nobody's queue make the cluster
// smaller.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "model/config.h"
#include "state/snapshot.h"

namespace reprieve {

struct QueueGrant {
    QueueId queue;
    Resources deserved;
    Resources recorded;  // granted before; only the resources that were written down
    Resources allocated;
    Resources preempting;
    Resources used;  // by bound pods, terminating ones included
    Resources live;  // without them
};

class Grants {
public:
    // REQUIRES: no op stands on the snapshot.
    // `by_pods`: a queue that states no request asks for what its pods ask for; else its weight alone counts.
    Grants(const Snapshot& snapshot, bool by_pods);

    // By name.
    [[nodiscard]] const std::vector<QueueGrant>& queues() const { return queues_; }
    // Null: the queue takes no part.
    [[nodiscard]] const QueueGrant* of(QueueId queue) const {
        return position_[queue] == kNotShared ? nullptr : &queues_[position_[queue]];
    }
    // What is shared: resources that a queue or one of its pods asks for.
    [[nodiscard]] const std::set<Dim>& dims() const { return dims_; }

private:
    using Amounts = std::map<QueueId, Resources>;

    void find_queues(const Snapshot& snapshot);
    [[nodiscard]] QueueGrant* grant_of(QueueId queue);
    void read_pods(const Snapshot& snapshot, Amounts& asked, Resources& capacity);
    void find_dims(const Snapshot& snapshot, const Amounts& asked);
    void divide(const Snapshot& snapshot, const std::vector<QueueId>& siblings, const Resources& total, Amounts& asked);
    void grant(const Snapshot& snapshot, Dim dim);

    static constexpr std::size_t kNotShared = static_cast<std::size_t>(-1);

    std::vector<QueueGrant> queues_;
    IdVector<QueueId, std::size_t> position_;  // in `queues_`
    std::set<Dim> dims_;
};

// Whether queues are balanced: the configured actions say so or, by default, a queue that states its request.
[[nodiscard]] bool balances_queues(const Snapshot& snapshot, const SchedulerConfig& config);

// What a bound pod holds: its request, without what a deferred resize has not given it yet.
[[nodiscard]] Resources held_by(const Snapshot& snapshot, PodId pod);

}  // namespace reprieve
