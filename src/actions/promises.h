// Promises: what earlier plans nominated, looked at again before anything new is planned.
//
// A nomination whose victims are still leaving is kept: its pod waits there and costs nobody else anything. One that no
// longer holds is cleared, and its owner is served like everybody else.
#pragma once

#include "actions/desk.h"
#include "actions/nominations.h"

namespace reprieve {

class Promises {
public:
    // REQUIRES: both outlive it.
    Promises(Desk& desk, const std::vector<ActionConfig>& actions) : desk_(desk), actions_(actions) {}

    // True: the demand waits where it was promised room, and that is in the plan. False: it must be served anew; what
    // does not hold any more is cleared.
    [[nodiscard]] bool kept(const Demand& demand) { return demand.gang ? gang_kept(demand) : pod_kept(demand); }

private:
    // The action that made room for it: no record says which, so it is the first that may have.
    [[nodiscard]] ActionKind promised_by(const Demand& demand) const;
    [[nodiscard]] bool pod_kept(const Demand& demand);
    [[nodiscard]] bool gang_kept(const Demand& demand);
    [[nodiscard]] bool gang_waits_there(const Demand& demand);
    [[nodiscard]] bool wait_there(PodId pod, std::uint32_t note);
    [[nodiscard]] bool room_is_held(const Demand& demand, View view);
    [[nodiscard]] NominationState state_of(PodId pod);
    [[nodiscard]] bool fits(PodId pod, View view);
    [[nodiscard]] bool took_room(NodeId node);
    void clear(PodId pod) { desk_.plan.nomination_cleared(desk_.snapshot().pod_name(pod)); }

    Desk& desk_;
    const std::vector<ActionConfig>& actions_;
};

}  // namespace reprieve
