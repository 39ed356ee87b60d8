// Filters: whether a pod may run on a node, told a second time from plain numbers (anchor: kube-scheduler's filters).
#pragma once

#include <vector>

#include "world.h"

namespace reprieve::worlds {

// Who is where, by pod of the world; -1: nowhere (it waits, or it is gone).
using Places = std::vector<int>;

[[nodiscard]] Places places_of(const World& world);

// kNever: no eviction can help on that node.
enum class Answer : std::uint8_t { kYes, kNotNow, kNever };

// REQUIRES: the pod is nowhere.
[[nodiscard]] Answer ask(const World& world, const Places& places, int pod, int node);

}  // namespace reprieve::worlds
