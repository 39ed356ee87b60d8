// What the window's documents have in common: pods, amounts and times as JSON, in the plan's own words.
#pragma once

#include <string>
#include <vector>

#include "manifest/json_fields.h"
#include "state/cluster.h"

namespace reprieve::window {

// {"cpu": 1500, "memory": 1073741824}: milli-cores, bytes, counts, as in a plan.
[[nodiscard]] OrderedJson amounts_json(const Vocabulary& words, const Resources& amounts);

// A time as text, or null.
[[nodiscard]] OrderedJson time_json(Time time);

// The queue's name; empty: none.
[[nodiscard]] std::string queue_name(const Snapshot& snapshot, QueueId queue);

// Name, node, priority, queue, gang, requests, devices, times.
[[nodiscard]] OrderedJson pod_json(const Cluster& cluster, PodId pod);

// The innermost domain of the node, for drawing racks; empty: none.
[[nodiscard]] std::string rack_of(const Snapshot& snapshot, NodeId node);

[[nodiscard]] std::string namespace_of(std::string_view full_name);

}  // namespace reprieve::window
