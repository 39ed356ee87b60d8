// Backoff: how long to wait before trying again: twice as long each time, up to a limit, with a random part so that
// many clients do not come back together. Seeded, so that a run can be repeated.
#pragma once

#include <cstdint>
#include <random>

#include "base/time.h"

namespace reprieve {

// Random numbers for waiting times. One for each thread.
class Jitter {
public:
    explicit Jitter(std::uint64_t seed) : engine_(seed) {}
    // Between half and all of `whole`.
    [[nodiscard]] Duration soften(Duration whole);
    // Between `least` and `most`, both included.
    [[nodiscard]] std::int64_t between(std::int64_t least, std::int64_t most);

private:
    std::mt19937_64 engine_;
};

struct BackoffLimits {
    Duration first{100'000};
    Duration longest{10'000'000};
};

class Backoff {
public:
    explicit Backoff(BackoffLimits limits = {}) : limits_(limits) {}

    // The wait before the next attempt; at least what the server asked for.
    [[nodiscard]] Duration next(Jitter& jitter, Duration asked_for = {});
    void reset() { failures_ = 0; }
    [[nodiscard]] int failures() const { return failures_; }

private:
    BackoffLimits limits_;
    int failures_ = 0;
};

}  // namespace reprieve
