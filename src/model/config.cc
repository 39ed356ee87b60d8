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

}  // namespace reprieve
