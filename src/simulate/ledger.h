// GpuLedger: where every GPU-second of a run went, counted twice.
//
// Once pod by pod, when it stops: work that was kept (used), work thrown away and restarts (lost). And once by the
// clock: how much of the cluster worked at each moment. Both must agree to the last microsecond; the rest of the
// capacity was idle, be it free, held by a gang that is not complete, or on a node that was down.
// Amounts are milli-GPU times microseconds.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "base/wide.h"

namespace reprieve {

class GpuLedger {
public:
    // The clock moves on; what works stays as it is until then.
    void advance(Duration step) { by_clock_ += Wide{working_} * step.us; }

    void starts(std::int64_t gpu_milli) { working_ += gpu_milli; }
    // A pod that worked `kept + lost` in all since it started.
    void stops(std::int64_t gpu_milli, Duration kept, Duration lost) {
        working_ -= gpu_milli;
        used_ += Wide{gpu_milli} * kept.us;
        lost_ += Wide{gpu_milli} * lost.us;
    }

    [[nodiscard]] std::int64_t working() const { return working_; }
    [[nodiscard]] Wide used() const { return used_; }
    [[nodiscard]] Wide lost() const { return lost_; }
    // REQUIRES: whoever worked was stopped.
    [[nodiscard]] bool balanced() const { return working_ == 0 && by_clock_ == used_ + lost_; }

private:
    std::int64_t working_ = 0;
    Wide by_clock_ = 0;
    Wide used_ = 0;
    Wide lost_ = 0;
};

}  // namespace reprieve
