// Filters: whether a pod may run on a node, told a second time from plain numbers (kube-scheduler's filters, devices,
// and the limits of queues).
#pragma once

#include <vector>

#include "world.h"

namespace reprieve::worlds {

struct Spot {
    int node = -1;  // -1: nowhere (it waits, or it is gone)
    Mask devices = 0;
    int ghost = -1;  // nowhere, but its devices on this node are held all the same
};

// Who is where, by pod of the world.
using Places = std::vector<Spot>;

// Running pods whose devices are written nowhere hold the lowest free ones, by start, then name.
[[nodiscard]] Places places_of(const World& world);
// The same once those that leave are gone.
[[nodiscard]] Places places_later(const World& world);

// No eviction can help on that node. REQUIRES: the pod is nowhere.
[[nodiscard]] bool says_never(const World& world, const Places& places, int pod, int node);
// Whether the pod passes every filter there, with these devices. REQUIRES: the pod is nowhere.
[[nodiscard]] bool passes(const World& world, const Places& places, int pod, const Spot& spot);
// The devices it could have on that node, one choice each; a pod that wants none has the empty choice.
[[nodiscard]] std::vector<Mask> device_choices(const World& world, const Places& places, int pod, int node);

}  // namespace reprieve::worlds
