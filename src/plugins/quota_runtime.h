// QuotaRuntime: what each ElasticQuota asks for, and the fair share (runtime) that follows from it.
//
// A quota asks for what its own pods ask for and what its children may use of what they ask for; one that does not lend
// asks for its minimum at least. From the top down each level divides its parent's runtime (see QuotaDivision); the top
// divides what the nodes offer without the use of pods in no quota. Koordinator's own default and system quotas hold
// pods outside the tree, and a quota with a total of its own is a tree by itself.
// All numbers are right after `refresh`.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plugins/quota_division.h"
#include "state/snapshot.h"

namespace reprieve {

class QuotaRuntime {
public:
    // Counts all pods of the snapshot; refreshed.
    explicit QuotaRuntime(const Snapshot& snapshot);

    // Own pods of this quota, or of a queue below it that is none, come (+1) or go (-1).
    void count(QueueId quota, std::span<const Resources::Amount> amounts, int sign);
    void refresh();

    // REQUIRES of all: the queue is an ElasticQuota. A dimension nobody lists or asks for is 0 everywhere.
    [[nodiscard]] std::int64_t runtime(QueueId quota, Dim dim) const { return part(quota, dim).runtime; }
    [[nodiscard]] std::int64_t least(QueueId quota, Dim dim) const { return part(quota, dim).least; }
    [[nodiscard]] std::int64_t request(QueueId quota, Dim dim) const { return request_[at(quota, dim)]; }

private:
    // Quotas stand level by level, so that the children of one parent are neighbours in the order of names.
    struct Seat {
        QueueId quota;
        std::int32_t parent = -1;
        std::uint32_t first_child = 0;
        std::uint32_t child_count = 0;
        const Resources* total = nullptr;  // a tree by itself
        bool outside = false;              // holds pods that are in no quota
        [[nodiscard]] bool apart() const { return total != nullptr || outside; }
    };

    void take_seats(const Snapshot& snapshot);
    void seat_children(const Snapshot& snapshot, std::uint32_t parent);
    void read_bounds(const Snapshot& snapshot);
    void count_pods(const Snapshot& snapshot);
    void sum_requests(std::size_t dim);
    void share_out(std::size_t dim);
    void settle_apart(std::size_t dim, std::uint32_t seat);
    [[nodiscard]] std::size_t at(QueueId quota, Dim dim) const {
        return dim.index() * seats_.size() + static_cast<std::size_t>(seat_of_[quota]);
    }
    [[nodiscard]] const QuotaPart& part(QueueId quota, Dim dim) const { return parts_[at(quota, dim)]; }

    std::size_t dims_ = 0;
    std::vector<Seat> seats_;
    std::uint32_t sharing_ = 0;                // so many seats of the top level share the root's total
    IdVector<QueueId, std::int32_t> seat_of_;  // -1: no quota, and none above it
    std::vector<bool> in_use_;                 // by dim: some quota lists it or a pod of one asks for it
    std::vector<std::int64_t> total_;          // by dim: of the root
    // dim x seat:
    std::vector<QuotaClaim> claims_;
    std::vector<QuotaPart> parts_;
    std::vector<std::int64_t> own_;  // what own pods ask for
    std::vector<std::int64_t> request_;
    std::vector<std::int64_t> limit_;  // the maximum; the largest number: none
    QuotaDivision division_;
};

}  // namespace reprieve
