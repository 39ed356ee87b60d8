// ServerClock: the time of day as the API server sees it.
//
// Deadlines, deletion timestamps and the like are written by the server's clock or by another replica's; ours may be
// wrong. Every answer says when it was made, to the second; a clock that is off by more than that can explain is
// corrected. May be used from several threads.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/time.h"

namespace reprieve {

// The machine's own.
[[nodiscard]] Time machine_clock();

class ServerClock {
public:
    // The server was so far ahead of the machine's clock when it answered, give or take a moment.
    void hear(Duration ahead);

    [[nodiscard]] Duration ahead() const { return {ahead_us_}; }
    [[nodiscard]] Time now() const { return machine_clock() + ahead(); }

private:
    std::atomic<std::int64_t> ahead_us_{0};
};

}  // namespace reprieve
