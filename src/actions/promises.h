// Promises: what earlier plans nominated, looked at again before anything new is planned.
//
// A nomination whose victims are still leaving is kept: its pod waits there and costs nobody else anything. One that no
// longer holds is cleared, and its owner is served like everybody else.
#pragma once

#include "actions/desk.h"
#include "actions/nominations.h"

namespace reprieve {

enum class Kept : std::uint8_t {
    kNot,
    kWaits,      // where it was promised room, and that is in the plan
    kCompleted,  // a place that was lost on the way is replaced by a free one
    kOnHold      // its place was lost, and nothing is planned for it while victims of its plan are leaving
};

class Promises {
public:
    // REQUIRES: both outlive it.
    Promises(Desk& desk, const std::vector<ActionConfig>& actions) : desk_(desk), actions_(actions) {}

    // Not: it must be served anew; what does not hold any more is cleared.
    // Among equals, whose promised room is there comes first: whoever must look for another place leaves it alone. Of
    // these, those for whom the room was left, before those whose own is still to come.
    void put_ready_first(std::vector<Demand>& nominated);

    // Whether all that it was promised is free now.
    [[nodiscard]] bool ready(const Demand& demand) { return room_is_held(demand, View::kNow); }
    // By which promises are weighed against other victims of a demand.
    [[nodiscard]] CostOrder cost_order(const Demand& demand) const;

    [[nodiscard]] Kept kept(const Demand& demand) { return demand.gang ? gang_kept(demand) : pod_kept(demand); }

private:
    // The action that made room for it: no record says which, so it is the first that may have.
    [[nodiscard]] ActionKind promised_by(const Demand& demand) const;
    [[nodiscard]] Kept pod_kept(const Demand& demand);
    // Its promised place is lost.
    [[nodiscard]] Kept without_place(const Demand& demand);
    [[nodiscard]] bool victims_leave(PodId pod);
    [[nodiscard]] Kept gang_kept(const Demand& demand);
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
