// Rest: planning takes only so large a part of the time, so that what arrives meanwhile is decided together.
//
// After a cycle the loop listens for `times` as long as the cycle took, but no longer than `most`. Who is urgent need
// not wait for that, as long as planning was put off before: time without planning is saved, one part in `times` + 1,
// and up to `saves`; every cycle takes from it what it took, and a cycle that took more than was saved leaves a debt of
// at most `saves`. So a single demand is served at once and a storm of them cycle by cycle: without the debt, whoever
// is urgent in a storm would begin a cycle for every microsecond saved. It looks at no clock: the moments are given to
// it.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/time.h"

namespace reprieve {

struct RestOptions {
    std::int64_t times = 0;  // 0: there is no rest
    Duration most{200'000};
    Duration saves{100'000};
};

class Rest {
public:
    using Moment = std::chrono::steady_clock::time_point;

    explicit Rest(RestOptions options) : options_(options), saved_(options.saves) {}

    // A cycle has ended.
    void planned(Moment from, Moment to);
    // How long the next cycle is to be put off.
    [[nodiscard]] Duration left(Moment now, bool is_urgent) const;

private:
    [[nodiscard]] Duration saved(Moment now) const;

    RestOptions options_;
    Moment until_;
    Moment counted_;  // what was saved up to here
    Duration saved_;
};

}  // namespace reprieve
