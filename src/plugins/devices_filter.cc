// The filter Devices: the devices asked for, by index: whole ones idle, shares with room, in one NVLink group if asked.
#include "plugins/filter.h"
#include "state/claim_questions.h"
#include "state/devices.h"

namespace reprieve {

Answer filter_devices(const Candidate& c, const Occupancy& view, const Occupancy& later, NodeId node) {
    if (!c.cls.has_devices) return {};
    if (c.cls.has_claims && served_by_claim(c.snapshot, node, c.spec.devices.whole_dim)) return {};
    std::vector<DeviceHold> chosen;
    const auto& devices = c.snapshot.devices[node];
    const std::vector<DeviceUse>& use = view.use(node).devices;
    const bool fits =
        &view == &later ? choose_devices(devices, use, c.spec.devices, chosen)
                        : choose_devices(devices, held_in_either(use, later.use(node).devices), c.spec.devices, chosen);
    if (fits) return {};
    return {devices_could_ever_fit(devices, c.spec.devices) ? Fit::kNotNow : Fit::kNever, FilterId::kDevices, 0};
}

}  // namespace reprieve
