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

// For whom a leaving pod makes room, as far as `pod`, which is nominated to its node, is concerned.
enum class LeavesFor : std::uint8_t {
    kNobody,     // it was going anyway, or goes for others
    kByName,     // a plan of the pod's demand names it, or it was asked to go for that demand
    kByPriority  // it was preempted, nobody says for whom, and the pod outranks it
};
[[nodiscard]] LeavesFor leaves_for(const Snapshot& snapshot, PodId leaving, PodId pod);

// The node a pending pod is nominated to; none if it is not, or if the node is gone.
[[nodiscard]] NodeId nominated_node(const Snapshot& snapshot, PodId pod);

// Placed elsewhere than an earlier plan promised.
[[nodiscard]] bool is_moved(const Snapshot& snapshot, PodId pod);

}  // namespace reprieve
