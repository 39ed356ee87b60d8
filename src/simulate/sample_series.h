// SampleSeries: the cluster over time, in a number of samples that does not grow with the time.
//
// Jobs usually arrive in a part of the run only, and the last one may work on for years. So while jobs arrive, a sample
// is due at every step; after the last arrival there are at most `kMostAfter`: whenever they are full, every second one
// goes and the step doubles. What is kept depends on the times alone, so the same run keeps the same samples.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "simulate/outcome.h"
#include "simulate/workload.h"

namespace reprieve {

class SampleSeries {
public:
    static constexpr std::size_t kMostAfter = 1000;  // samples after the last arrival

    // REQUIRES: step > 0.
    SampleSeries(Duration step, Duration last_arrival) : step_(step), last_arrival_(last_arrival) {}

    // When the next sample is to be taken.
    [[nodiscard]] Duration due() const { return due_; }
    // REQUIRES: the sample is of the time that was due.
    void add(const Sample& sample);
    [[nodiscard]] std::vector<Sample> take() { return std::move(samples_); }

private:
    void thin_out();

    Duration step_;
    Duration last_arrival_;
    Duration due_;
    std::vector<Sample> samples_;
    std::size_t arrivals_ = 0;  // the samples in front, which stay
};

// About 500 samples while jobs arrive, whole seconds apart.
[[nodiscard]] Duration sample_step(const JobTrace& trace, std::optional<Duration> until);

}  // namespace reprieve
