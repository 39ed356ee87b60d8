#include "actions/trigger.h"

namespace reprieve {

std::string trigger_refusal(const Desk& desk, const ActionConfig& action, std::span<const PodId> pods) {
    const Snapshot& s = desk.snapshot();
    for (PodId pod : pods) {
        const std::optional<bool>& label = s.facts->pod(pod).more().can_preempt;
        if (label == false) return "label can-preempt forbids it to preempt";
        if (!label && action.disable_default_trigger_preemption)
            return "it may not preempt without label can-preempt (disableDefaultTriggerPreemption)";
    }
    return desk.session.limits.refuses_trigger(s.later, desk.session.limits.ask_of(pods));
}

}  // namespace reprieve
