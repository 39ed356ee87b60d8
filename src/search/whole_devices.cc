#include "search/whole_devices.h"

#include <algorithm>

namespace reprieve {

bool devices_by_amounts(const Session& session, const DeviceAsk& ask, NodeId node) {
    if (!session.filters.on(FilterId::kDevices)) return true;
    if (ask.shares > 0 || ask.same_group) return false;
    if (ask.whole == 0) return true;
    const Occupancy& later = session.snapshot.later;
    const auto& devices = later.use(node).devices;
    return std::ranges::count_if(devices, &DeviceUse::idle) == later.free(node, ask.whole_dim) &&
           std::ranges::none_of(devices, [](const DeviceUse& use) { return use.shares > 0; });
}

}  // namespace reprieve
