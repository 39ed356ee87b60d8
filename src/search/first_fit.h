// Whether giving every pod the first devices that suit it finds a way to serve them all, if there is one.
//
// Devices are given pod by pod, each pod the first ones that suit it (state/device_choice.h), whatever that leaves to
// the others. Assume that all pods ask for devices by the same words, in one way, without constraints among devices,
// and that the devices that suit them use up the same of their counters. Then any two of these devices do the same for
// a pod and take the same from the others, so it makes no difference which one is given, and a "no" is one. Otherwise
// the first pod may take the larger alternative, the partition that uses up a card, or one of a pair that another
// needs: a "no" proves nothing, and one with everything evicted says nothing about fewer evictions.
#pragma once

#include <span>

#include "state/snapshot.h"

namespace reprieve {

[[nodiscard]] bool first_fit_decides(const Snapshot& snapshot,
                                     std::span<const PodId> pods,
                                     std::span<const NodeId> nodes);

}  // namespace reprieve
