#include "kube/pulse.h"

#include <algorithm>

namespace reprieve {

bool Pulse::is_silent(std::uint64_t round, Instant begun, Duration limit, Instant now) const {
    // What was given up does not speak again.
    const Instant since = round == round_ ? std::max(begun, heard_) : begun;
    return now - since >= std::chrono::microseconds(limit.us);
}

bool Pulse::give_up(std::uint64_t round) {
    if (round != round_) return false;
    ++round_;
    heard_ = {};
    return true;
}

}  // namespace reprieve
