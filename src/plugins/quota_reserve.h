// QuotaReserve: room under a quota's maximum that is kept for non-preemptible work which waits.
//
// Such work is promised the quota's minimum. Only what could be admitted counts: gangs with enough members whose
// request fits under the minimum of every quota on the path. Taken once, before the plan; what the plan places of it
// uses up what was kept.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/quota_kinds.h"

namespace reprieve {

class QuotaReserve {
public:
    QuotaReserve() = default;
    QuotaReserve(const Snapshot& snapshot, QuotaKinds kinds);

    // What others must leave free in this quota, if `coming` of it is about to be taken by such work itself.
    [[nodiscard]] std::int64_t kept(
        const Snapshot& snapshot, const Occupancy& view, QueueId quota, Dim dim, std::int64_t coming) const;

private:
    struct Job {
        QueueId queue;
        Resources asked;
    };
    [[nodiscard]] std::vector<Job> waiting_jobs(const Snapshot& snapshot) const;
    [[nodiscard]] bool is_admissible(const Snapshot& snapshot, const Job& job) const;
    void promise(const Snapshot& snapshot, const Occupancy& view, std::vector<std::int64_t>& out) const;

    QuotaKinds kinds_;
    std::size_t dims_ = 0;
    std::vector<std::int64_t> waiting_;  // queue x dim; empty: nobody waits
    // queue x dim: what non-preemptible pods hold and may still come to hold
    std::vector<std::int64_t> promised_now_;
    std::vector<std::int64_t> promised_later_;
};

}  // namespace reprieve
