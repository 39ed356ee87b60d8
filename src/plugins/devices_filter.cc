// The filter Devices: the devices asked for, by index: whole ones idle, shares with room, in one NVLink group if asked,
// and registered in the dialect that the share is asked for in.
#include <span>

#include "plugins/filter.h"
#include "state/claim_questions.h"
#include "state/cluster.h"
#include "state/devices.h"

namespace reprieve {
namespace {

// KAI's devices are registered by their number alone; their size is a label's.
bool memory_unknown(std::span<const Device> devices, const DeviceAsk& ask) {
    return ask.dialect == DeviceDialect::kKai && ask.share_memory > 0 && !devices.empty() && devices[0].memory == 0;
}

}  // namespace

Answer filter_devices(const Candidate& c, const Occupancy& view, const Occupancy& later, NodeId node) {
    if (!c.cls.has_devices) return {};
    if (c.cls.has_claims && served_by_claim(c.snapshot, node, c.spec.devices.whole_dim)) return {};
    const DeviceDialect dialect = c.spec.devices.dialect;
    if (dialect != DeviceDialect::kPlain && !c.snapshot.facts->node(node)->dialects.has(dialect))
        return {Fit::kNever, FilterId::kDevices, static_cast<std::uint32_t>(dialect)};
    if (memory_unknown(c.snapshot.devices[node], c.spec.devices))
        return {Fit::kNever, FilterId::kDevices, kNoDeviceMemory};
    const auto& devices = c.snapshot.devices[node];
    if (devices_fit(devices, view.use(node).devices, later.use(node).devices, c.spec.devices)) return {};
    return {devices_could_ever_fit(devices, c.spec.devices) ? Fit::kNotNow : Fit::kNever, FilterId::kDevices, 0};
}

}  // namespace reprieve
