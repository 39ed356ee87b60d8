// Retry: when to plan anew because of a step that failed and that no belief about a pod speaks of, such as the scale of
// a deployment. The next plan asks for it again: soon at first, then less and less often, and after some tries in a row
// no more by itself: what never works must not keep the loop awake.
#pragma once

#include "base/time.h"
#include "model/world.h"

namespace reprieve {

// After so many failures in a row.
[[nodiscard]] Duration pause_after(int failures);
constexpr Duration kLongestPause{std::int64_t{60} * 1'000'000};

class Retry {
public:
    void hear(const SinkReport& report, Time now);
    // Not set: nothing is to be tried again.
    [[nodiscard]] Time due() const { return due_; }
    void planned() { due_ = {}; }

private:
    Time due_;
    int failures_ = 0;
};

}  // namespace reprieve
