// Levers: the facts of one subject that could be different, each as a change to a WhatIf.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "explain/retrials.h"
#include "explain/subject.h"
#include "state/serving.h"

namespace reprieve {

// Whose priority counts for the subject, and what it is.
struct PriorityLever {
    std::string of;  // "ns/name" of the pod, or of the gang, composite group or serving deployment that has the say
    std::int32_t now = 0;
    std::function<Retrials::Change(std::int32_t)> set;
};
[[nodiscard]] std::optional<PriorityLever> priority_lever(const Cluster& cluster, const Subject& subject);

// None of these pods may be taken. Nullopt: every rule that could say so is switched off.
[[nodiscard]] std::optional<Retrials::Change> protect(const Retrials& trials, const std::vector<std::string>& pods);

// A minimum run time for the subject: on the gang where it has an object, else on each pod.
[[nodiscard]] Retrials::Change min_runtime(const Cluster& cluster, const Subject& subject, std::int64_t seconds);

// How long ago the pod wrote its last checkpoint; without any, since its start.
[[nodiscard]] std::int64_t checkpoint_age(const Snapshot& snapshot, PodId pod);
// The last checkpoints of these pods are that old, or older; or none of them is older.
[[nodiscard]] Retrials::Change checkpoints_from(const Cluster& cluster, std::vector<PodId> pods, std::int64_t seconds);
[[nodiscard]] Retrials::Change checkpoints_since(const Cluster& cluster, std::vector<PodId> pods, std::int64_t seconds);

// The pods run there instead, each on its node, holding what they find.
[[nodiscard]] Retrials::Change run_on(const Cluster& cluster,
                                      std::vector<PodId> pods,
                                      const std::vector<NodeId>& nodes);

// The pod waits, as if it had never been bound.
[[nodiscard]] Pod unbound(const Pod& pod);

// The serving deployment of that full name; nullopt: there is none.
[[nodiscard]] std::optional<ServingRow> serving_named(const Cluster& cluster, const std::string& full);
// The serving deployment that the pod is a replica of; nullopt: it is nobody's.
[[nodiscard]] std::optional<ServingRow> serving_with(const Cluster& cluster, PodId pod);

// The gang of that full name; none if there is none.
[[nodiscard]] GangId gang_named(const Cluster& cluster, const std::string& full);

// Whether a plugin is switched on.
[[nodiscard]] bool plugin_on(const SchedulerConfig& config, const char* name);

}  // namespace reprieve
