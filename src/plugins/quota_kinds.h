// QuotaKinds: which pods a quota counts as non-preemptible ("fixed"), and how much of a queue's use is theirs.
#pragma once

#include <cstdint>

#include "state/snapshot.h"

namespace reprieve {

struct QuotaKinds {
    bool unmarked_are_fixed = false;  // disableDefaultPreemptible

    [[nodiscard]] bool is_fixed(const PodClass& cls) const {
        return cls.mark == QuotaMark::kFixed || (unmarked_are_fixed && cls.mark == QuotaMark::kNone);
    }
    [[nodiscard]] std::int64_t fixed_use(const Occupancy& view, QueueId queue, Dim dim) const {
        return unmarked_are_fixed ? view.queue_used(queue, dim) - view.queue_preemptible(queue, dim)
                                  : view.queue_fixed(queue, dim);
    }
};

}  // namespace reprieve
