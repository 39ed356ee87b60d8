// Pulse: whether the connections to a server still bring answers.
//
// Requests of one round use the same connections, one after another. When a request has waited for as long as it may
// and nothing at all has come in its round meanwhile, the round is given up: the next requests, and those that are
// tried again, get connections of their own. A server that is slow with some requests goes on answering others, and is
// waited for. See docs/decisions/0032.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/time.h"

namespace reprieve {

class Pulse {
public:
    using Instant = std::chrono::steady_clock::time_point;

    [[nodiscard]] std::uint64_t round() const { return round_; }

    // Something has come for a request of that round.
    void hear(std::uint64_t round, Instant now) {
        if (round == round_) heard_ = now;
    }

    // Whether a request of that round, begun then, has waited through a silence of this length.
    [[nodiscard]] bool is_silent(std::uint64_t round, Instant begun, Duration limit, Instant now) const;

    // False: that round was given up before.
    bool give_up(std::uint64_t round);

private:
    std::uint64_t round_ = 0;
    Instant heard_;  // last, in this round
};

}  // namespace reprieve
