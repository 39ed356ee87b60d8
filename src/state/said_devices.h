// What a running pod says of the devices that it holds, in whatever dialect, on the node where it runs.
//
// The words are an index (reprieve.dev/devices, volcano.sh/gpu-index), an id that the node's device plugin registered
// (HAMi, Volcano), or a group (KAI) whose pods share one device; which one that is, nobody says.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "model/node.h"
#include "model/pod.h"
#include "state/devices.h"

namespace reprieve {

// How plainly a pod says what it holds; those who say more are heard first.
enum class DeviceWords : std::uint8_t { kNames, kGroup, kNothing };
[[nodiscard]] DeviceWords device_words_of(const Pod& pod);

// The device of each group on one node.
using GroupDevices = std::map<StringId, std::int32_t>;

// REQUIRES: its groups, if any, are in `groups`. Devices that the node does not list are left out.
[[nodiscard]] std::vector<DeviceHold> said_devices(std::span<const Device> devices,
                                                   const DeviceAsk& ask,
                                                   const Pod& pod,
                                                   const GroupDevices& groups);

// What a running pod without such words is taken to hold: the lowest indexes with room for what it asks for. Where the
// node is not registered in the pod's dialect, nobody knows how much of a device it has: then it is all of it. Empty:
// the node has too few devices; the pod holds what it cannot name.
[[nodiscard]] std::vector<DeviceHold> assumed_devices(std::span<const Device> devices,
                                                      DialectSet registered,
                                                      std::span<const DeviceUse> use,
                                                      const DeviceAsk& ask);

}  // namespace reprieve
