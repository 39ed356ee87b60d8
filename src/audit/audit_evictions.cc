// Who may be evicted, by whom, for whom.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "audit/rules.h"

namespace reprieve {
namespace {

bool takes_by_priority(ActionKind kind) { return kind == ActionKind::kPreempt || kind == ActionKind::kGangPreempt; }

bool is_serving(const EvictedPod& item) { return item.action == ActionKind::kServingPreempt; }

// The rules of the plugin `protected`.
std::string protected_as(const Case& judged, const PodRow& row) {
    if (row.has(kCriticalClass)) return "is critical for the system";
    if (row.has(kKubeSystem) && judged.config.plugins.kube_system_protected) return "is in kube-system";
    if (row.has(kMirror)) return "is a static pod";
    if (row.has(kDaemon)) return "belongs to a DaemonSet";
    if (row.has(kMarked)) return "is marked as not preemptible";
    return "";
}

bool too_young(const Case& judged, PodId pod) {
    const PodRow& row = judged.row(pod);
    return row.min_runtime > Duration{} && judged.snapshot.now_time - judged.snapshot.started(pod) < row.min_runtime;
}

// A PriorityClass may ask for time against preemptors below a certain priority; a negative time never ends.
bool tolerates_preemption(const Case& judged, PodId pod, std::int32_t attacker) {
    const PriorityClass* cls = judged.standings.class_of(judged.fact(pod));
    if (cls == nullptr || !(cls->minimum_preemptable_priority || cls->toleration_seconds)) return false;
    const std::int64_t least = cls->minimum_preemptable_priority ? std::int64_t{*cls->minimum_preemptable_priority}
                                                                 : std::int64_t{cls->value} + 1;
    if (attacker >= least) return false;
    const std::int64_t seconds = cls->toleration_seconds.value_or(0);
    const Duration ran = judged.snapshot.now_time - judged.snapshot.started(pod);
    return seconds < 0 || ran.us < seconds * 1'000'000;
}

// A victim of a soft eviction is deleted only by an action that sets a deadline for that.
bool may_be_hastened(const Case& judged, const EvictedPod& item) {
    return item.entry->mode == EvictionMode::kDelete && std::ranges::any_of(judged.actions, [](const ActionConfig& a) {
               return a.soft_eviction_deadline.has_value();
           });
}

void judge_victim(const Case& judged, const EvictedPod& item, Report& report) {
    const PodRow& row = judged.row(item.pod);
    const Pod& pod = judged.fact(item.pod);
    const std::string& name = item.entry->pod;
    // Only servingPreempt may hasten a pod that is going anyway; then there is nothing left to protect.
    if (pod.terminating()) {
        const bool hastened = is_serving(item) && item.entry->mode == EvictionMode::kForceDelete;
        if (!hastened) report.add("eviction-target", name, "is terminating already");
        return;
    }
    if (judged.leaves(item.pod) && !may_be_hastened(judged, item))
        report.add("eviction-target", name, "was asked to go already, and its time is not over");
    if (item.entry->mode == EvictionMode::kForceDelete) report.add("eviction-target", name, "is not terminating yet");
    if (is_serving(item) && !row.has(kServing))
        report.add("eviction-target", name, "is no replica of a serving deployment");
    if (row.has(kForeign) && !is_serving(item)) report.add("protected", name, "is another scheduler's");
    if (!is_serving(item) && judged.is_fixed(item.pod)) report.add("protected", name, "is non-preemptible");
    if (const std::string why = protected_as(judged, row); !why.empty() && judged.enabled("protected")) {
        report.add("protected", name, why);
    }
    if (too_young(judged, item.pod) && judged.enabled("minRuntime")) {
        report.add("min-runtime", name, fmt::format("has not run {} yet", format_duration(row.min_runtime)));
    }
}

bool never_preempts(const Case& judged, const Owner& owner) {
    return owner.gang ? judged.snapshot.gangs[owner.gang].never_preempts : judged.row(owner.pod).has(kNeverPreempts);
}

QueueId queue_of(const Case& judged, const Owner& owner, const std::string& name) {
    if (owner.pod) return judged.row(owner.pod).queue;
    const auto& own = judged.placements_for(name);
    return own.empty() ? QueueId() : judged.row(own.front()->pod).queue;
}

void judge_attack(const Case& judged, const EvictedPod& item, const Owner& owner, Report& report) {
    const std::string& name = item.entry->pod;
    const std::int32_t attacker = judged.standing(owner);
    const std::int32_t defender = judged.standings.as_victim(item.pod);
    if (!judged.enabled("priority")) report.add("priority", name, "preemption by priority is disabled");
    if (defender >= attacker) {
        report.add("priority",
                   name,
                   fmt::format("has priority {}, not below the {} of {}", defender, attacker, item.entry->owner));
    }
    if (tolerates_preemption(judged, item.pod, attacker) && judged.enabled("minRuntime")) {
        report.add("min-runtime", name, fmt::format("its PriorityClass still protects it from priority {}", attacker));
    }
    const bool cross_queue =
        judged.configured(*item.action, [](const ActionConfig& action) { return action.cross_queue; });
    const QueueId mine = queue_of(judged, owner, item.entry->owner);
    if (!cross_queue && mine != judged.row(item.pod).queue) {
        report.add("same-queue", name, fmt::format("is in another queue than {}", item.entry->owner));
    }
}

void judge_resizing_owner(const Case& judged, const Owner& owner, Report& report) {
    const Node* node = judged.cluster.node(judged.cluster.find_node(judged.fact(owner.pod).node));
    if (node != nullptr && node->resize_preemption_disabled) {
        report.add("owner", judged.name(owner.pod), "its node does not allow preemption for resizes");
    }
    const QueueId queue = judged.row(owner.pod).queue;
    if (queue && !judged.snapshot.queues[queue].takes_pods()) {
        report.add("queue-closed", judged.name(owner.pod), "its queue neither takes pods nor preempts");
    }
}

// Evictions must serve somebody who then has a place.
void judge_owner(const Case& judged, const EvictedPod& item, const Owner& owner, Report& report) {
    const std::string& name = item.entry->pod;
    if (!owner.known())
        return report.add("owner", name, fmt::format("is evicted for \"{}\", which does not exist", item.entry->owner));
    if (never_preempts(judged, owner)) {
        report.add(
            "preemption-policy", name, fmt::format("is evicted for {}, which never preempts", item.entry->owner));
    }
    if (owner.pod && judged.resizes(owner.pod)) return judge_resizing_owner(judged, owner, report);
    const auto& own = judged.placements_for(item.entry->owner);
    const bool waits = std::ranges::any_of(own, [](const PlacedPod* placed) { return placed->entry->after_evictions; });
    if (!waits)
        report.add("owner", name, fmt::format("is evicted for {}, which gets no place by it", item.entry->owner));
}

}  // namespace

bool may_be_evicted(const Case& judged, PodId pod) {
    const PodRow& row = judged.row(pod);
    if (!judged.runs(pod) || row.has(kForeign) || row.has(kServing)) return false;
    if (judged.enabled("protected") && !protected_as(judged, row).empty()) return false;
    if (!judged.enabled("minRuntime")) return true;
    return !too_young(judged, pod) && !tolerates_preemption(judged, pod, std::numeric_limits<std::int32_t>::min());
}

void judge_evictions(const Case& judged, Report& report) {
    for (const EvictedPod& item : judged.evicted) {
        judge_victim(judged, item, report);
        if (judged.leaves(item.pod) || !item.action || !serves_a_demand(*item.action)) continue;
        const Owner owner = judged.owner(item.entry->owner);
        judge_owner(judged, item, owner, report);
        if (owner.known() && takes_by_priority(*item.action)) judge_attack(judged, item, owner, report);
    }
}

}  // namespace reprieve
