#include "simulate/sample_series.h"

#include <algorithm>

#include "base/check.h"

namespace reprieve {
namespace {

constexpr std::int64_t kWhileJobsArrive = 500;
constexpr std::int64_t kSecond = 1'000'000;

}  // namespace

void SampleSeries::add(const Sample& sample) {
    REPRIEVE_CHECK(sample.at == due_, "a sample is taken when it is due");
    samples_.push_back(sample);
    if (sample.at <= last_arrival_)
        arrivals_ = samples_.size();
    else if (samples_.size() - arrivals_ == kMostAfter)
        thin_out();
    due_.us += step_.us;
}

// The last of an even number goes, so the next one is due two old steps, one new step, after the last that stays.
void SampleSeries::thin_out() {
    static_assert(kMostAfter % 2 == 0);
    for (std::size_t i = 0; i < kMostAfter / 2; ++i)
        samples_[arrivals_ + i] = samples_[arrivals_ + 2 * i];
    samples_.resize(arrivals_ + kMostAfter / 2);
    due_ = samples_.back().at;
    step_.us *= 2;
}

Duration sample_step(const JobTrace& trace, std::optional<Duration> until) {
    Duration span = trace.jobs.empty() ? Duration{} : trace.jobs.back().submit;
    if (until) span = std::min(span, *until);
    return {std::max<std::int64_t>(1, span.us / kWhileJobsArrive / kSecond) * kSecond};
}

}  // namespace reprieve
