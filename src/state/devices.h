// Devices of a node: who holds what, and which ones a pod would get.
//
// The choice is a pure function of what is held, so it is the same wherever it is asked. Whoever goes back after a
// what-if goes back to the devices it had (Transaction keeps them); it never chooses again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/node.h"
#include "model/pod.h"
#include "model/pod_spec.h"

namespace reprieve {

struct DeviceUse {
    std::int32_t whole = 0;   // pods holding all of it
    std::int32_t shares = 0;  // pods holding a share
    std::int64_t memory = 0;
    std::int64_t milli = 0;
    friend bool operator==(const DeviceUse&, const DeviceUse&) = default;
    [[nodiscard]] bool idle() const { return whole == 0 && shares == 0; }
};

inline constexpr std::int64_t kMilliPerDevice = 1000;

// More is held of the device than there is of it. (Memory counts only where shares of it are held.)
[[nodiscard]] bool overfull(const Device& device, const DeviceUse& use);

// Chooses devices for `ask` among `devices` (sorted by index; `use` runs parallel). False: not enough room; `out` is
// then undefined.
[[nodiscard]] bool choose_devices(std::span<const Device> devices,
                                  std::span<const DeviceUse> use,
                                  const DeviceAsk& ask,
                                  std::vector<DeviceHold>& out);

// Whether choose_devices() would find some, with what is held in either of the two. Nothing is chosen.
[[nodiscard]] bool devices_fit(std::span<const Device> devices,
                               std::span<const DeviceUse> now,
                               std::span<const DeviceUse> later,
                               const DeviceAsk& ask);

// What the ask takes of this device, whether or not there is room.
[[nodiscard]] DeviceHold hold_as_asked(const Device& device, const DeviceAsk& ask);

// What a running pod is taken to hold that does not say: the lowest indexes that have room, whatever group they are in.
[[nodiscard]] bool lowest_free_devices(std::span<const Device> devices,
                                       std::span<const DeviceUse> use,
                                       const DeviceAsk& ask,
                                       std::vector<DeviceHold>& out);

// Whether the ask could be met if nobody held anything.
[[nodiscard]] bool devices_could_ever_fit(std::span<const Device> devices, const DeviceAsk& ask);

// What a placement now must keep clear of: whatever is held now, or will be later.
[[nodiscard]] std::vector<DeviceUse> held_in_either(std::span<const DeviceUse> now, std::span<const DeviceUse> later);

void hold_devices(std::span<const Device> devices,
                  std::span<DeviceUse> use,
                  std::span<const DeviceHold> holds,
                  int sign);

}  // namespace reprieve
