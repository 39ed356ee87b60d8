#include "model/config.h"

#include "base/check.h"

namespace reprieve {

const char* to_text(CostTerm term) {
    switch (term) {
        case CostTerm::kPdbViolations:
            return "pdbViolations";
        case CostTerm::kBreaksGangs:
            return "breaksGangs";
        case CostTerm::kMaxPriority:
            return "maxPriority";
        case CostTerm::kGangsBroken:
            return "gangsBroken";
        case CostTerm::kPrioritySum:
            return "prioritySum";
        case CostTerm::kQueueOrder:
            return "queueOrder";
        case CostTerm::kLostWork:
            return "lostWork";
        case CostTerm::kResources:
            return "resources";
        case CostTerm::kPodCount:
            return "pods";
        case CostTerm::kUnits:
            return "units";
        case CostTerm::kOwnPriority:
            return "ownPriority";
        case CostTerm::kLatestStart:
            return "latestStart";
    }
    REPRIEVE_CHECK(false, "cost term {}", static_cast<int>(term));
}

const char* to_text(ActionKind kind) {
    switch (kind) {
        case ActionKind::kAllocate:
            return "allocate";
        case ActionKind::kBackfill:
            return "backfill";
        case ActionKind::kPreempt:
            return "preempt";
        case ActionKind::kGangPreempt:
            return "gangPreempt";
        case ActionKind::kGangReclaim:
            return "gangReclaim";
        case ActionKind::kJobPreempt:
            return "jobPreempt";
        case ActionKind::kRevoke:
            return "revoke";
        case ActionKind::kServingPreempt:
            return "servingPreempt";
        case ActionKind::kQueueBalance:
            return "queueBalance";
    }
    REPRIEVE_CHECK(false, "action {}", static_cast<int>(kind));
}

std::vector<ActionConfig> default_actions() {
    std::vector<ActionConfig> actions;
    for (const ActionKind kind : {ActionKind::kAllocate,
                                  ActionKind::kPreempt,
                                  ActionKind::kGangPreempt,
                                  ActionKind::kGangReclaim,
                                  ActionKind::kJobPreempt,
                                  ActionKind::kRevoke,
                                  ActionKind::kServingPreempt,
                                  ActionKind::kQueueBalance,
                                  ActionKind::kBackfill}) {
        actions.emplace_back().kind = kind;
    }
    return actions;
}

namespace {

// What is written for everybody, wherever it stands.
QuotaArgs shared_args(const SchedulerConfig& config, const std::vector<ActionConfig>& actions) {
    QuotaArgs out = config.plugins.quota;
    for (const ActionConfig& action : actions) {
        if (action.disable_default_preemptible) out.disable_default_preemptible = true;
        if (action.disable_default_trigger_preemption) out.disable_default_trigger_preemption = true;
        if (!action.reserve_for_pending_non_preemptible) out.reserve_for_pending_non_preemptible = false;
        if (!out.delete_when_preempted) out.delete_when_preempted = action.delete_when_preempted;
        if (!out.soft_eviction_deadline) out.soft_eviction_deadline = action.soft_eviction_deadline;
    }
    return out;
}

}  // namespace

std::vector<ActionConfig> actions_of(const SchedulerConfig& config) {
    std::vector<ActionConfig> actions = config.actions ? *config.actions : default_actions();
    const QuotaArgs shared = shared_args(config, actions);
    for (ActionConfig& action : actions) {
        action.disable_default_preemptible = shared.disable_default_preemptible.value_or(false);
        action.disable_default_trigger_preemption = shared.disable_default_trigger_preemption.value_or(false);
        action.reserve_for_pending_non_preemptible = shared.reserve_for_pending_non_preemptible.value_or(true);
        action.delete_when_preempted = shared.delete_when_preempted;
        action.soft_eviction_deadline = shared.soft_eviction_deadline;
        if (!action.mode && shared.delete_when_preempted == false) action.mode = EvictMode::kSoft;
    }
    return actions;
}

}  // namespace reprieve
