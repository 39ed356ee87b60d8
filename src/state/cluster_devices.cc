// Who holds which device of a node.
#include <algorithm>
#include <set>

#include "state/cluster.h"
#include "state/said_devices.h"

namespace reprieve {
namespace {

// A pod of a group that asks for a whole device keeps it for the others of the group, who share it.
bool keeps_for_group(const DeviceAsk& ask) { return ask.whole > 0; }

// The device of each group: the lowest that nobody holds, for those who come first.
class GroupSeats {
public:
    GroupSeats(std::span<const Device> devices, std::span<const DeviceUse> use) : devices_(devices), use_(use) {}

    void seat(const Pod& pod, const DeviceAsk& ask) {
        for (const NamedHold& named : pod.more().named_devices) {
            if (named.by != NamedHold::By::kGroup) continue;
            if (!keeps_for_group(ask)) shared_.insert(named.name);
            if (groups_.contains(named.name)) continue;
            for (std::size_t i = 0; i < devices_.size(); ++i) {
                if (!use_[i].idle() || !taken_.insert(i).second) continue;
                groups_.emplace(named.name, devices_[i].index);
                break;
            }
        }
    }
    [[nodiscard]] const GroupDevices& devices() const { return groups_; }
    // Whether the others of its group hold what this one asks for.
    [[nodiscard]] bool is_held_by_others(const Pod& pod, const DeviceAsk& ask) const {
        const auto& named = pod.more().named_devices;
        return keeps_for_group(ask) && std::ranges::any_of(named, [&](const NamedHold& one) {
                   return one.by == NamedHold::By::kGroup && shared_.contains(one.name);
               });
    }

private:
    std::span<const Device> devices_;
    std::span<const DeviceUse> use_;
    std::set<std::size_t> taken_;
    std::set<StringId> shared_;
    GroupDevices groups_;
};

}  // namespace

// What pods say of themselves first, then the lowest free indexes; each by start and name.
void Cluster::assign_devices(NodeId id) {
    const std::vector<Device>& devices = snapshot_.devices[id];
    if (devices.empty()) return;
    std::vector<PodId> users;
    for (PodId pod : snapshot_.node_pods[id]) {
        const PodRow& row = snapshot_.pods[pod];
        if (row.state != PodState::kRunning && row.state != PodState::kTerminating) continue;
        if (snapshot_.classes[row.cls].has_devices || device_words_of(pods_[pod]) != DeviceWords::kNothing)
            users.push_back(pod);
    }
    if (users.empty()) return;
    for (PodId pod : users)
        occupy(pod, -1);
    std::ranges::sort(users, [&](PodId a, PodId b) {
        const DeviceWords says_a = device_words_of(pods_[a]);
        const DeviceWords says_b = device_words_of(pods_[b]);
        if (says_a != says_b) return says_a < says_b;
        // Who has not started comes last, whatever time it is now.
        const Time x = snapshot_.pods[a].started;
        const Time y = snapshot_.pods[b].started;
        if (x.is_set() != y.is_set()) return x.is_set();
        if (x != y) return x < y;
        return snapshot_.name_less(a, b);
    });
    const DialectSet registered = nodes_.get(id)->dialects;
    std::vector<DeviceUse> use(devices.size());
    GroupSeats groups(devices, use);
    bool seated = false;
    for (PodId pod : users) {
        const DeviceAsk& ask = snapshot_.spec_of(pod).devices;
        const DeviceWords words = device_words_of(pods_[pod]);
        if (words == DeviceWords::kGroup && !seated) {
            for (PodId member : users)
                groups.seat(pods_[member], snapshot_.spec_of(member).devices);
            seated = true;
        }
        std::vector<DeviceHold>& holds = snapshot_.holds[pod];
        holds.clear();
        if (groups.is_held_by_others(pods_[pod], ask)) continue;
        if (words != DeviceWords::kNothing) holds = said_devices(devices, ask, pods_[pod], groups.devices());
        // Ids mean nothing to a node that registered none.
        if (holds.empty() && (words == DeviceWords::kNothing || !registered.has(ask.dialect)))
            holds = assumed_devices(devices, registered, use, ask);
        hold_devices(devices, use, holds, +1);
    }
    for (PodId pod : users)
        occupy(pod, +1);
}

}  // namespace reprieve
