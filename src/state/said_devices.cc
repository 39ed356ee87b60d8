#include "state/said_devices.h"

#include <algorithm>
#include <optional>

namespace reprieve {
namespace {

const Device* with_index(std::span<const Device> devices, std::int32_t index) {
    const auto at = std::ranges::lower_bound(devices, index, {}, &Device::index);
    return at == devices.end() || at->index != index ? nullptr : &*at;
}

const Device* find_named(std::span<const Device> devices, const NamedHold& named, const GroupDevices& groups) {
    switch (named.by) {
        case NamedHold::By::kId: {
            const auto at = std::ranges::find(devices, named.name, &Device::id);
            return at == devices.end() ? nullptr : &*at;
        }
        case NamedHold::By::kIndex:
            return with_index(devices, named.index);
        case NamedHold::By::kGroup: {
            const auto at = groups.find(named.name);
            return at == groups.end() ? nullptr : with_index(devices, at->second);
        }
    }
    return nullptr;
}

}  // namespace

DeviceWords device_words_of(const Pod& pod) {
    const PodExtras& extras = pod.more();
    if (!extras.named_devices.empty())
        return extras.named_devices.front().by == NamedHold::By::kGroup ? DeviceWords::kGroup : DeviceWords::kNames;
    return extras.held_devices.empty() ? DeviceWords::kNothing : DeviceWords::kNames;
}

std::vector<DeviceHold> said_devices(std::span<const Device> devices,
                                     const DeviceAsk& ask,
                                     const Pod& pod,
                                     const GroupDevices& groups) {
    const PodExtras& extras = pod.more();
    if (extras.named_devices.empty()) return extras.held_devices;
    std::vector<DeviceHold> out;
    for (const NamedHold& named : extras.named_devices) {
        const Device* device = find_named(devices, named, groups);
        if (device == nullptr) continue;
        if (named.by == NamedHold::By::kId)
            out.push_back({device->index, named.memory, named.milli});
        else
            out.push_back(hold_as_asked(*device, ask));
    }
    std::ranges::sort(out);
    return out;
}

std::vector<DeviceHold> assumed_devices(std::span<const Device> devices,
                                        DialectSet registered,
                                        std::span<const DeviceUse> use,
                                        const DeviceAsk& ask) {
    DeviceAsk assumed = ask;
    if (!registered.has(ask.dialect) && ask.shares > 0) assumed = {.whole = ask.shares};
    std::vector<DeviceHold> out;
    if (!lowest_free_devices(devices, use, assumed, out)) out.clear();
    return out;
}

}  // namespace reprieve
