// Levers: the facts of one subject that could be different, each as a change to a WhatIf.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "explain/retrials.h"
#include "explain/subject.h"

namespace reprieve {

// Whose priority counts for the subject, and what it is.
struct PriorityLever {
    std::string of;  // "ns/name" of the pod, or of the gang or composite group that has the say
    std::int32_t now = 0;
    std::function<Retrials::Change(std::int32_t)> set;
};
[[nodiscard]] std::optional<PriorityLever> priority_lever(const Cluster& cluster, const Subject& subject);

// None of these pods may be taken. Nullopt: every rule that could say so is switched off.
[[nodiscard]] std::optional<Retrials::Change> protect(const Retrials& trials, const std::vector<std::string>& pods);

// A minimum run time for the subject: on the gang where it has an object, else on each pod.
[[nodiscard]] Retrials::Change min_runtime(const Cluster& cluster, const Subject& subject, std::int64_t seconds);

// The pod's last checkpoint is so old.
[[nodiscard]] Retrials::Change checkpoint_age(const Cluster& cluster, PodId pod, std::int64_t seconds);

// The pod runs there instead, holding what it finds.
[[nodiscard]] Retrials::Change runs_on(const Cluster& cluster, PodId pod, NodeId node);

// The pod waits, as if it had never been bound.
[[nodiscard]] Pod unbound(const Pod& pod);

// The gang of that full name; none if there is none.
[[nodiscard]] GangId gang_named(const Cluster& cluster, const std::string& full);

// Whether a plugin is switched on.
[[nodiscard]] bool plugin_on(const SchedulerConfig& config, const char* name);

}  // namespace reprieve
