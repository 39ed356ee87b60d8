#include "actions/action_list.h"

#include <algorithm>
#include <utility>

#include "actions/allocate.h"
#include "actions/trigger.h"
#include "actions/unplaced.h"
#include "plugins/network_topology.h"
#include "plugins/quota_vote.h"

namespace reprieve {

ActionList::ActionList(Desk& desk,
                       std::span<const ActionConfig> actions,
                       FarReaching& far_reaching,
                       std::optional<Shares>& shares)
    : desk_(desk),
      actions_(actions),
      far_reaching_(far_reaching),
      shares_(shares) {
    for (const ActionConfig& action : actions_) {
        if (action.kind == ActionKind::kPreempt && !preempt_) preempt_ = std::make_unique<Preempt>(desk_, action);
        if (action.kind == ActionKind::kGangPreempt && !gang_preempt_)
            gang_preempt_ = std::make_unique<GangEvict>(desk_, action, nullptr);
        if (action.kind == ActionKind::kGangReclaim) reclaim_ = &action;
        if (action.kind == ActionKind::kJobPreempt && !job_preempt_)
            job_preempt_ = std::make_unique<JobPreempt>(desk_, action);
        backfills_ = backfills_ || action.kind == ActionKind::kBackfill;
        surplus_preempts_ = surplus_preempts_ || action.surplus_preempts;
    }
}

Served ActionList::serve(const Demand& demand) {
    Served last{.proof = Proof::nobody()};
    const bool allocates = std::ranges::find(actions_, ActionKind::kAllocate, &ActionConfig::kind) != actions_.end();
    bool allocated = false;
    for (const ActionConfig& action : actions_) {
        allocated = allocated || action.kind == ActionKind::kAllocate;
        // Nobody is evicted for whom there is room.
        if (!allocated && fits_without_evictions(demand)) {
            if (last.why_not.empty())
                last.why_not = allocates ? "it fits without evictions, which is left to allocate"
                                         : "it fits without evictions, and allocate is not among the actions";
            last.proof.reset();
            continue;
        }
        Served served = attempt(action, demand);
        if (served.done) return served;
        add_refusal(last, served);
    }
    return last;
}

bool ActionList::fits_without_evictions(const Demand& demand) {
    const auto start = desk_.session.tx.checkpoint();
    const bool fits = allocate(desk_, demand).done;
    desk_.session.rollback(start);
    return fits;
}

// Gangs are gangPreempt's business and single pods preempt's, where both are there.
bool ActionList::is_anothers(const ActionConfig& action, const Demand& demand) const {
    const bool gang = demand.gang && desk_.snapshot().gangs[demand.gang].min > 1;
    return action.kind == ActionKind::kPreempt       ? gang && gang_preempt_
           : action.kind == ActionKind::kGangPreempt ? !demand.gang && preempt_ && anywhere(demand)
                                                     : false;
}

Served ActionList::attempt(const ActionConfig& action, const Demand& demand) {
    if (action.kind != ActionKind::kAllocate && action.kind != ActionKind::kBackfill) {
        std::string why =
            demand.never_preempts ? "preemptionPolicy Never: it waits for free room" : may_not_trigger(action, demand);
        if (!why.empty() && is_anothers(action, demand)) return Served::not_mine();
        if (!why.empty()) return Served::not_mine(std::move(why), action.kind);
    }
    far_reaching_.note();
    const auto start = desk_.session.tx.checkpoint();
    const PlanBuilder::Mark before = desk_.plan.mark();
    Served served = try_action(action, demand);
    if (served.done && !far_reaching_.hold_since(start)) {
        withdraw(start, before);
        // Once more, with those in mind: a set of victims counts only if they keep their places.
        desk_.session.keep_in_mind = far_reaching_.pods();
        served = try_action(action, demand);
        desk_.session.keep_in_mind.clear();
        if (served.done && far_reaching_.hold_since(start)) return served;
        const std::optional<Proof> proof = served.done ? std::nullopt : served.proof;
        if (served.done) withdraw(start, before);
        served = {.why_not = "whoever makes room for it is needed by others that this plan places", .proof = proof};
    }
    // The literal algorithms claim nothing about what they refuse.
    if (!action.improve && !served.why_not.empty()) served.proof.reset();
    if (action.kind != ActionKind::kAllocate && !served.why_not.empty() && !served.surplus_only)
        served.by = action.kind;
    return served;
}

void ActionList::withdraw(Transaction::Checkpoint start, const PlanBuilder::Mark& before) {
    desk_.session.rollback(start);
    desk_.plan.forget_since(before);
}

bool ActionList::may_evict(const Demand& demand) const { return may_not_trigger(actions_.front(), demand).empty(); }

std::string ActionList::may_not_trigger(const ActionConfig& action, const Demand& demand) const {
    if (!demand.gang) return trigger_refusal(desk_, action, demand.pods);
    const Mandatory members = desk_.members_of(demand);
    return members.missing > 0 ? "" : trigger_refusal(desk_, action, members.pods);
}

Served ActionList::try_action(const ActionConfig& action, const Demand& demand) {
    switch (action.kind) {
        case ActionKind::kAllocate:
            return allocate(desk_, demand);
        case ActionKind::kPreempt:
            return preempt_->serve(demand);
        case ActionKind::kGangPreempt:
            // Single pods are preempt's business, where it is configured and they may run anywhere.
            return !demand.gang && preempt_ && anywhere(demand) ? Served::not_mine() : gang_preempt_->serve(demand);
        case ActionKind::kGangReclaim:
            return reclaimer().serve(demand);
        case ActionKind::kJobPreempt:
            return asked_for_quotas(demand) ? job_preempt_->serve(demand) : Served::not_mine();
        default:
            return Served::not_mine();
    }
}

// Unless it is configured, jobPreempt has work only where there are quotas.
bool ActionList::asked_for_quotas(const Demand& demand) const {
    return desk_.session.config.actions || is_in_quota(desk_.snapshot(), demand.queue);
}

bool ActionList::anywhere(const Demand& demand) const {
    return network_search_space(desk_.snapshot(), home_of(desk_.snapshot(), demand)).anywhere();
}

GangEvict& ActionList::reclaimer() {
    if (!gang_reclaim_) {
        if (!shares_) shares_.emplace(desk_.snapshot());
        gang_reclaim_ = std::make_unique<GangEvict>(desk_, *reclaim_, &*shares_);
    }
    return *gang_reclaim_;
}

bool ActionList::serve_surplus(const Demand& demand, PodId member) {
    if (!demand.gang || !surplus_preempts_) return false;
    const Snapshot& s = desk_.snapshot();
    // All members of a plan share one time: while others start now, it waits for the next plan.
    const auto starts_now = [&](PodId p) { return s.pods[p].state == PodState::kPlaced; };
    if (std::ranges::any_of(s.gangs[s.pods[member].gang].pods, starts_now)) return false;
    Demand single = single_demand(s, member);
    single.priority = demand.priority;
    single.never_preempts = demand.never_preempts;
    for (const ActionConfig& action : actions_) {
        const bool by_priority = action.kind == ActionKind::kPreempt || action.kind == ActionKind::kGangPreempt;
        if (by_priority && attempt(action, single).done) return true;
    }
    return false;
}

}  // namespace reprieve
