#include "kube/backoff.h"

#include <algorithm>

namespace reprieve {

std::int64_t Jitter::between(std::int64_t least, std::int64_t most) {
    const auto width = static_cast<std::uint64_t>(most - least) + 1;
    return least + static_cast<std::int64_t>(engine_() % width);
}

Duration Jitter::soften(Duration whole) { return {between(whole.us - whole.us / 2, whole.us)}; }

Duration Backoff::next(Jitter& jitter, Duration asked_for) {
    Duration wait = limits_.first;
    for (int i = 0; i < failures_ && wait < limits_.longest; ++i)
        wait.us *= 2;
    ++failures_;
    wait = jitter.soften(std::min(wait, limits_.longest));
    // Nobody comes back earlier than asked, but not everybody at that moment.
    if (asked_for.us > 0) wait.us = std::max(wait.us, asked_for.us + jitter.between(0, asked_for.us / 4));
    return wait;
}

}  // namespace reprieve
