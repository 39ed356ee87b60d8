#include "loop/retry.h"

#include <algorithm>

namespace reprieve {

Duration pause_after(int failures) {
    constexpr Duration kFirstPause{1'000'000};
    Duration pause = kFirstPause;
    for (int i = 1; i < failures && pause < kLongestPause; ++i)
        pause.us *= 2;
    return std::min(pause, kLongestPause);
}

void Retry::hear(const SinkReport& report, Time now) {
    if (report.step != SinkStep::kScale && report.step != SinkStep::kAnnotate && report.step != SinkStep::kForceDelete)
        return;
    constexpr int kMostTries = 8;
    if (report.ok) {
        failures_ = 0;
    } else if (report.tried && !due_.is_set() && failures_ < kMostTries) {
        due_ = now + pause_after(++failures_);
    }
}

}  // namespace reprieve
