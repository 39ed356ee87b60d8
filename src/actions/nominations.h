// Nominations of earlier plans: which are still in flight, which hold, which are dropped.
#pragma once

#include "state/snapshot.h"

namespace reprieve {

enum class NominationState : std::uint8_t {
    kNone,
    kInFlight,     // its victims are still leaving: it waits and plans nothing new
    kIdle,         // nobody is leaving for it: it is kept if it fits
    kInterrupted,  // a recorded victim runs on untold: whoever was carrying out the plan did not get to the end of it
    kLost          // its node is gone or refuses it for good
};

// `never_there`: the nominated node's verdict is never.
[[nodiscard]] NominationState nomination_state(const Snapshot& snapshot, PodId pod, bool never_there);

// The node a pending pod is nominated to; none if it is not, or if the node is gone.
[[nodiscard]] NodeId nominated_node(const Snapshot& snapshot, PodId pod);

}  // namespace reprieve
