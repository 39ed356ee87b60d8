// Questions about claims that need no choice of devices.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "state/device_choice.h"
#include "state/snapshot.h"

namespace reprieve {

// Whether the pod's claims could be met there if nobody held anything.
[[nodiscard]] DeviceChoice could_ever_be_given(const Snapshot& snapshot,
                                               PodId pod,
                                               NodeId node,
                                               std::string* why = nullptr);

// The devices that the plan of record promised to the pod on this node.
[[nodiscard]] std::vector<DeviceId> devices_promised(const Snapshot& snapshot, PodId pod, NodeId node);

// Of each request of the pod that has alternatives, in order, which one these grants take.
[[nodiscard]] std::vector<std::size_t> alternatives_taken(const Snapshot& snapshot,
                                                          PodId pod,
                                                          std::span<const ClaimGrant> grants);

// Whether nobody else holds, later, the very devices that the claims of a placed pod were given, or their counters.
[[nodiscard]] bool given_devices_stand(const Snapshot& snapshot, PodId pod);

// Whether a device that becomes free can do harm to the pod: a selector of its claims fails on some device, or a claim
// has constraints and asks for all devices. Both end the attempt, and both are asked only of devices that are free.
[[nodiscard]] bool free_devices_can_harm(const Snapshot& snapshot, PodId pod);

// Whether a selector of the pod's claims fails on this device: once it is free, the attempt ends.
[[nodiscard]] bool is_poison(const Snapshot& snapshot, PodId pod, DeviceId device);

// Whether claims serve this resource on the node: a class stands behind it, and the node has none of its own.
[[nodiscard]] bool served_by_claim(const Snapshot& snapshot, NodeId node, Dim resource);

// Running pods on other nodes that hold devices which these nodes can use, or the counters of such devices.
[[nodiscard]] std::vector<PodId> device_holders_elsewhere(const Snapshot& snapshot, std::span<const NodeId> nodes);

}  // namespace reprieve
