#include "actions/promises.h"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>

#include "actions/allocate.h"
#include "actions/holds.h"
#include "actions/soft_evictions.h"
#include "plugins/quota_vote.h"
#include "state/cluster.h"

namespace reprieve {
namespace {

// Who still leaves by name for pods that are nominated, on their nodes.
class LeavingByName {
public:
    LeavingByName(const Snapshot& s, std::span<const Demand> nominated) : snapshot_(s) {
        std::set<NodeId> nodes;
        for (const Demand& demand : nominated) {
            for (PodId pod : demand.pods)
                nodes.insert(nominated_node(s, pod));
        }
        nodes.erase(NodeId());
        for (NodeId node : nodes) {
            for (PodId pod : s.node_pods[node]) {
                if (s.pods[pod].state != PodState::kTerminating) continue;
                const Pod& fact = s.facts->pod(pod);
                uids_.insert(fact.uid);
                if (const auto asked = soft_eviction_of(fact)) jobs_.insert(asked->job);
            }
        }
    }

    [[nodiscard]] bool any_for(PodId pod) const {
        const GangId gang = snapshot_.pods[pod].gang;
        return some_plan(pod,
                         [&](const PlanNote& plan) {
                             return std::ranges::any_of(plan.victim_uids,
                                                        [&](const auto& uid) { return uids_.contains(uid); });
                         }) ||
               jobs_.contains(snapshot_.pod_name(pod)) || (gang && jobs_.contains(snapshot_.gang_name(gang)));
    }

    // Some plan on record evicted for it.
    [[nodiscard]] bool has_victims(PodId pod) const {
        return some_plan(pod, [](const PlanNote& plan) { return !plan.victim_uids.empty(); });
    }

private:
    // The plan on record for the pod, or for its group, is such a one.
    template <class Test>
    [[nodiscard]] bool some_plan(PodId pod, Test test) const {
        const GangId gang = snapshot_.pods[pod].gang;
        const Gang* group = gang ? snapshot_.gangs[gang].fact : nullptr;
        const auto holds = [&](const std::optional<PlanNote>& plan) { return plan && test(*plan); };
        return holds(snapshot_.facts->pod(pod).more().plan) || (group != nullptr && holds(group->plan));
    }

    const Snapshot& snapshot_;
    std::unordered_set<std::string_view> uids_;
    std::unordered_set<std::string> jobs_;  // for whom soft evictions asked
};

}  // namespace

ActionKind Promises::promised_by(const Demand& demand) const {
    const bool by_configuration = desk_.session.config.actions.has_value();
    for (const ActionConfig& action : actions_) {
        const bool serves = action.kind == ActionKind::kGangPreempt || action.kind == ActionKind::kGangReclaim ||
                            (action.kind == ActionKind::kPreempt && !demand.gang) ||
                            (action.kind == ActionKind::kJobPreempt &&
                             (by_configuration || is_in_quota(desk_.snapshot(), demand.queue)));
        if (serves) return action.kind;
    }
    return demand.gang ? ActionKind::kGangPreempt : ActionKind::kPreempt;
}

CostOrder Promises::cost_order(const Demand& demand) const {
    const auto action = std::ranges::find(actions_, promised_by(demand), &ActionConfig::kind);
    ActionConfig usual;
    usual.kind = promised_by(demand);
    return {action != actions_.end() ? *action : usual, desk_.session.config.plugins};
}

void Promises::put_ready_first(std::vector<Demand>& nominated) {
    if (nominated.size() < 2) return;
    const LeavingByName leaving(desk_.snapshot(), nominated);
    // Whether all that it was promised is free now; and then, whose room that is: first of those whose victims have
    // gone, then of those whose victims still leave, then of those who wait for pods that leave anyway.
    struct Turn {
        bool is_free;
        int claim;
        Demand demand;
    };
    std::vector<Turn> turns;
    for (Demand& demand : nominated) {
        const bool is_free = std::ranges::all_of(demand.pods, [&](PodId pod) {
            const NodeId node = nominated_node(desk_.snapshot(), pod);
            return !node || desk_.placer.fits(pod, node, View::kNow);
        });
        const bool waits = std::ranges::any_of(demand.pods, [&](PodId pod) { return leaving.any_for(pod); });
        const bool paid = std::ranges::any_of(demand.pods, [&](PodId pod) { return leaving.has_victims(pod); });
        turns.push_back({is_free, !is_free || waits ? 1 : (paid ? 0 : 2), std::move(demand)});
    }
    std::ranges::stable_sort(turns, [](const Turn& a, const Turn& b) {
        return std::tuple(-std::int64_t{a.demand.priority}, !a.is_free, a.claim) <
               std::tuple(-std::int64_t{b.demand.priority}, !b.is_free, b.claim);
    });
    for (std::size_t i = 0; i < turns.size(); ++i)
        nominated[i] = std::move(turns[i].demand);
}

Kept Promises::pod_kept(const Demand& demand) {
    const PodId pod = demand.first();
    switch (state_of(pod)) {
        case NominationState::kInFlight:
            // Others may still be leaving, but not for this one.
            if (fits(pod, View::kNow)) return Kept::kNot;
            if (wait_there(pod, desk_.plan.note({.action = promised_by(demand)}))) return Kept::kWaits;
            return without_place(demand);
        case NominationState::kInterrupted:
            if (!fits(pod, View::kLater)) clear(pod);
            return Kept::kNot;
        case NominationState::kIdle:
            return fits(pod, View::kLater) ? Kept::kNot : without_place(demand);
        default:
            return without_place(demand);
    }
}

// While victims that its plan names are still leaving, on whatever nodes, nobody else goes for it: it takes what is
// free or waits. The nomination stays, and with it the record of who they are.
Kept Promises::without_place(const Demand& demand) {
    const PodId pod = demand.first();
    if (!victims_leave(pod)) {
        clear(pod);
        return Kept::kNot;
    }
    if (allocate(desk_, demand).done) {
        clear(pod);
        return Kept::kCompleted;
    }
    desk_.plan.unplaced({.pod = desk_.snapshot().pod_name(pod),
                         .owner = "",
                         .never = false,
                         .reason = "its promised place is lost; it waits while its victims are leaving"});
    return Kept::kOnHold;
}

bool Promises::victims_leave(PodId pod) {
    const Snapshot& s = desk_.snapshot();
    const std::optional<PlanNote>& plan = s.facts->pod(pod).more().plan;
    if (!plan || plan->victim_uids.empty()) return false;
    if (plan->deadline.is_set() && s.now_time > plan->deadline) return false;
    for (PodId other : IdRange<PodId>(s.pods.size())) {
        const PodRow& row = s.pods[other];
        if (row.state != PodState::kTerminating || leaves_for(s, other, pod) != LeavesFor::kByName) continue;
        // Nobody stops a pod on a node that is lost, and room there helps nobody.
        if (row.node && s.nodes[row.node].ready) return true;
    }
    return false;
}

// A gang whose victims are still leaving waits where it is nominated; members without a nomination wait for the next
// plan.
Kept Promises::gang_kept(const Demand& demand) {
    const auto any_is = [&](NominationState state) {
        return std::ranges::any_of(demand.pods, [&](PodId p) { return state_of(p) == state; });
    };
    const bool leaving = any_is(NominationState::kInFlight) && !any_is(NominationState::kInterrupted);
    if (leaving && !room_is_held(demand, View::kNow)) {
        // Nobody else goes for it before the last of its victims has, also where a place was lost on the way: until
        // then it takes what is free.
        for (PodId p : demand.pods) {
            if (state_of(p) == NominationState::kLost) clear(p);
        }
        if (!room_is_held(demand, View::kLater) && allocate(desk_, demand).done) return Kept::kCompleted;
        if (gang_waits_there(demand)) return Kept::kWaits;
        for (PodId p : demand.pods) {
            if (nominated_node(desk_.snapshot(), p)) clear(p);
        }
        return Kept::kNot;
    }
    for (PodId p : demand.pods) {
        const NominationState state = state_of(p);
        if (state == NominationState::kLost || (state != NominationState::kNone && !fits(p, View::kLater))) clear(p);
    }
    return Kept::kNot;
}

bool Promises::gang_waits_there(const Demand& demand) {
    const Snapshot& s = desk_.snapshot();
    const auto start = desk_.session.tx.checkpoint();
    const std::uint32_t note = desk_.plan.note({.action = promised_by(demand), .owner = owner_name(s, demand)});
    std::vector<PodId> left_out;
    for (PodId p : demand.pods) {
        const bool promised = nominated_node(s, p).valid() && state_of(p) != NominationState::kLost;
        // Nobody leaves for it and it does not fit: its promise is void.
        const bool in_vain = promised && state_of(p) != NominationState::kInFlight && !fits(p, View::kLater);
        if (!promised || in_vain) {
            left_out.push_back(p);
        } else if (!wait_there(p, note)) {
            desk_.session.rollback(start);
            return false;
        }
    }
    for (PodId p : left_out) {
        if (s.facts->pod(p).nominated) clear(p);
        desk_.plan.unplaced({.pod = s.pod_name(p),
                             .owner = s.gang_name(s.pods[p].gang),
                             .never = false,
                             .reason = "waits while the victims of its gang are leaving"});
    }
    return true;
}

// False: it does not fit any more, and somebody whom this plan has placed would suffer from it.
bool Promises::wait_there(PodId pod, std::uint32_t note) {
    const auto start = desk_.session.tx.checkpoint();
    const NodeId node = nominated_node(desk_.snapshot(), pod);
    if (fits(pod, View::kLater)) {
        desk_.placer.put(pod, node, View::kLater, note);
    } else {
        const std::set<PodId> others = placed_by_plan(desk_);
        desk_.session.tx.nominate(pod, node, {}, note);
        if (!placements_hold(desk_, others, {node})) {
            desk_.session.rollback(start);
            return false;
        }
    }
    desk_.session.commit(start);
    return true;
}

// Whether all members that must come together have a promised place, and fit there together.
bool Promises::room_is_held(const Demand& demand, View view) {
    const auto start = desk_.session.tx.checkpoint();
    const std::uint32_t note = desk_.plan.note({.action = promised_by(demand)});
    const std::vector<PodId> members = demand.gang ? desk_.members_of(demand).pods : demand.pods;
    bool held = !members.empty();
    for (PodId p : members) {
        const NodeId node = nominated_node(desk_.snapshot(), p);
        held = held && node && fits(p, view);
        if (held) desk_.placer.put(p, node, view, note);
    }
    desk_.session.rollback(start);
    return held;
}

NominationState Promises::state_of(PodId pod) {
    const Snapshot& s = desk_.snapshot();
    const NodeId node = nominated_node(s, pod);
    const bool never =
        node && (desk_.placer.facts(pod)[node.index()].fit == Fit::kNever ||
                 desk_.session.filters.check_view(Candidate(s, pod), s.later, s.later, node).fit == Fit::kNever);
    const NominationState state = nomination_state(s, pod, never);
    // A higher demand of this plan may have taken the room that was being freed.
    if (state == NominationState::kInFlight && took_room(node) && !fits(pod, View::kLater))
        return NominationState::kLost;
    return state;
}

// In its nominated place. REQUIRES: it has one.
bool Promises::fits(PodId pod, View view) {
    return desk_.placer.fits(pod, nominated_node(desk_.snapshot(), pod), view);
}

// Whether this plan put somebody on the node.
bool Promises::took_room(NodeId node) {
    const Snapshot& s = desk_.snapshot();
    return std::ranges::any_of(s.node_pods[node], [&](PodId p) {
        return s.pods[p].state == PodState::kPlaced || s.pods[p].state == PodState::kNominated;
    });
}

}  // namespace reprieve
