#include "plugins/protection.h"

#include <algorithm>

#include "state/cluster.h"

namespace reprieve {
namespace {

bool disabled(const PluginsConfig& config, const char* name) {
    return std::ranges::find(config.disable, name) != config.disable.end();
}

// The PriorityClass of the victim lets it stay for a time against attackers below this priority.
std::int64_t tolerated_below(const Snapshot& s, PodId pod) {
    const PriorityClass* cls = s.facts->priority_class(s.facts->pod(pod).priority_class);
    if (cls == nullptr) return INT64_MIN;
    const std::int64_t seconds = cls->toleration_seconds.value_or(0);
    if (seconds >= 0 && (s.now_time - s.started(pod)).us >= seconds * 1'000'000) return INT64_MIN;
    return cls->minimum_preemptable_priority.value_or(cls->value == INT32_MAX ? cls->value : cls->value + 1);
}

}  // namespace

Protections::Protections(const SchedulerConfig& config)
    : on_(!disabled(config.plugins, "protected")),
      kube_system_(config.plugins.kube_system_protected),
      min_runtime_(!disabled(config.plugins, "minRuntime")),
      unmarked_are_fixed_(std::ranges::any_of(actions_of(config), &ActionConfig::disable_default_preemptible)) {}

Protection Protections::from_everybody(const Snapshot& s, PodId pod) const {
    const PodRow& row = s.pods[pod];
    if (row.state != PodState::kRunning) return Protection::kNotRunning;
    if (row.min_runtime.us > 0 && min_runtime_ && (s.now_time - s.started(pod)) < row.min_runtime)
        return Protection::kMinRuntime;
    if (!on_) return Protection::kNone;
    if (row.has(kCriticalClass)) return Protection::kCriticalClass;
    if (row.has(kKubeSystem) && kube_system_) return Protection::kKubeSystem;
    if (row.has(kMirror)) return Protection::kMirror;
    if (row.has(kDaemon)) return Protection::kDaemonSet;
    return row.has(kMarked) ? Protection::kMarked : Protection::kNone;
}

Protection Protections::of(const Snapshot& s, PodId pod, std::int32_t attacker_priority) const {
    const PodRow& row = s.pods[pod];
    if (const Protection rule = from_everybody(s, pod); rule != Protection::kNone) return rule;
    if (row.has(kForeign)) return Protection::kForeign;
    if (row.has(kServing)) return Protection::kServing;
    const QuotaMark mark = s.class_of(pod).mark;
    if (mark == QuotaMark::kFixed) return Protection::kMarked;
    if (unmarked_are_fixed_ && mark == QuotaMark::kNone) return Protection::kNotOffered;
    if (row.has(kTolerates) && min_runtime_ && attacker_priority < tolerated_below(s, pod))
        return Protection::kToleration;
    return Protection::kNone;
}

Protection Protections::of_replica(const Snapshot& s, PodId pod, std::int32_t attacker_priority) const {
    if (const Protection rule = from_everybody(s, pod); rule != Protection::kNone) return rule;
    return attacker_priority < replica_taken_from(s, pod) ? Protection::kToleration : Protection::kNone;
}

std::int64_t Protections::replica_taken_from(const Snapshot& s, PodId pod) const {
    if (from_everybody(s, pod) != Protection::kNone) return INT64_MAX;
    return s.pods[pod].has(kTolerates) && min_runtime_ ? tolerated_below(s, pod) : INT64_MIN;
}

const char* to_text(Protection protection) {
    switch (protection) {
        case Protection::kNone:
            return "may be evicted";
        case Protection::kCriticalClass:
            return "is critical to the system";
        case Protection::kKubeSystem:
            return "runs in kube-system";
        case Protection::kMirror:
            return "is a static pod of its node";
        case Protection::kDaemonSet:
            return "belongs to a DaemonSet and would come straight back";
        case Protection::kNotRunning:
            return "is not running";
        case Protection::kForeign:
            return "belongs to another scheduler";
        case Protection::kMarked:
            return "is marked not preemptible";
        case Protection::kMinRuntime:
            return "has not yet had its minimum run time";
        case Protection::kToleration:
            return "is tolerated for now by its PriorityClass";
        case Protection::kServing:
            return "is a replica of a serving deployment";
        case Protection::kNotOffered:
            return "is not labelled preemptible, and disableDefaultPreemptible is set";
    }
    return "";
}

std::string why_protected(const Snapshot& s, PodId pod, Protection protection) {
    // What marked it is a key that somebody wrote, or a sentence where nobody did.
    const std::string& marker = s.facts->pod(pod).more().preemptible_marker;
    const bool sentence = marker.find(' ') != std::string::npos;
    if (protection == Protection::kMarked && sentence) return marker;
    return std::string("it ") + to_text(protection);
}

}  // namespace reprieve
