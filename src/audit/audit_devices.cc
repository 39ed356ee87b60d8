// Devices: who holds which device of a node, and whether the plan's choice is free.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "audit/claim_facts.h"
#include "audit/rules.h"
#include "base/wide.h"

namespace reprieve {
namespace {

constexpr std::int64_t kWholeMilli = 1000;
constexpr std::int64_t kMebibyteOfDevice = 1024 * 1024;  // other dialects count in these
constexpr std::int64_t kMoreThanThereIs = std::numeric_limits<std::int64_t>::max();

struct Held {
    int whole = 0;
    int shares = 0;
    std::int64_t memory = 0;
    std::int64_t milli = 0;
    std::int64_t milli_before = 0;  // of that, held before the plan
};
using HeldByIndex = std::map<std::int32_t, Held>;

void hold(HeldByIndex& held, const DeviceHold& part, bool before = false) {
    Held& device = held[part.index];
    if (part.whole()) {
        ++device.whole;
        return;
    }
    ++device.shares;
    device.memory = saturating_add(device.memory, part.memory);
    device.milli = saturating_add(device.milli, part.milli);
    if (before) device.milli_before = saturating_add(device.milli_before, part.milli);
}

// Devices that a device plugin splits: a number of places; all of the compute for one alone; nobody without compute
// where none was left. (Whom the plan places may have come in any order, so the last is held against what was there
// before.)
bool has_place(const Device& device, const Held& held, const DeviceHold& part) {
    if (device.sharers == 0) return true;
    if (held.shares + 1 > device.sharers) return false;
    if (part.milli == kWholeMilli && device.milli == kWholeMilli && held.shares > 0) return false;
    return part.milli != 0 || device.milli == 0 || held.milli_before < device.milli;
}

bool has_room(const Device& device, const Held& held, const DeviceHold& part) {
    if (part.whole()) return held.whole == 0 && held.shares == 0;
    return held.whole == 0 && saturating_add(held.memory, part.memory) <= device.memory &&
           saturating_add(held.milli, part.milli) <= device.milli && has_place(device, held, part);
}

// What a pod that ran before the plan holds. Where it names devices by the ids of its node's device plugin, that is
// read from the facts again; else it is what the state made of its words.
std::vector<DeviceHold> held_before(const Case& judged, PodId pod, const std::vector<Device>& devices) {
    std::vector<DeviceHold> out;
    for (const NamedHold& named : judged.fact(pod).more().named_devices) {
        if (named.by != NamedHold::By::kId) return judged.snapshot.holds[pod];
        for (const Device& device : devices) {
            if (device.id == named.name) out.push_back({device.index, named.memory, named.milli});
        }
    }
    return out.empty() ? judged.snapshot.holds[pod] : out;
}

const Device* find_device(std::span<const Device> devices, std::int32_t index) {
    const auto it = std::ranges::find(devices, index, &Device::index);
    return it == devices.end() ? nullptr : &*it;
}

std::size_t count_of(const DeviceAsk& ask) { return static_cast<std::size_t>(ask.whole > 0 ? ask.whole : ask.shares); }

// What others hold on the node; `mine` says who is not an other.
template <class Mine>
HeldByIndex held_by_others(const Scene& scene, NodeId node, Mine mine) {
    HeldByIndex held;
    const std::vector<Device>& devices = scene.judged().cluster.node(node)->devices;
    for (const PodId pod : scene.on(node)) {
        const Seat& seat = scene.seat(pod);
        if (mine(seat)) continue;
        const bool before = seat.placed == nullptr;
        for (const DeviceHold& part : before ? held_before(scene.judged(), pod, devices) : seat.placed->holds)
            hold(held, part, before);
    }
    return held;
}

void judge_choice(const Scene& scene, const PlacedPod& placed, Findings& out) {
    const DeviceAsk& ask = scene.judged().spec(placed.pod).devices;
    const std::vector<Device>& devices = scene.judged().cluster.node(placed.node)->devices;
    const auto complain = [&](std::string what) { out.push_back({"Devices", std::move(what)}); };
    if (!scene.judged().cluster.node(placed.node)->dialects.has(ask.dialect))
        complain(fmt::format("the node has no {}", registration_of(ask.dialect)));
    if (placed.holds.size() != count_of(ask)) {
        complain(fmt::format("{} devices are named, {} are asked for", placed.holds.size(), count_of(ask)));
    }
    const HeldByIndex held =
        held_by_others(scene, placed.node, [&](const Seat& seat) { return seat.pod == placed.pod; });
    std::set<std::int32_t> seen;
    std::set<std::int32_t> groups;
    for (const DeviceHold& part : placed.holds) {
        const Device* device = find_device(devices, part.index);
        if (!seen.insert(part.index).second) complain(fmt::format("device {} is named twice", part.index));
        if (device == nullptr) {
            complain(fmt::format("the node has no device {}", part.index));
            continue;
        }
        groups.insert(device->group);
        const auto it = held.find(part.index);
        if (!has_room(*device, it == held.end() ? Held{} : it->second, part)) {
            complain(fmt::format("device {} has no room", part.index));
        }
    }
    if (ask.same_group && groups.size() > 1) complain("the devices are not in one group");
}

// Takes what the pod asks for from what is left; false: it finds nothing (somebody cleverer might).
bool take_devices(std::span<const Device> devices, const DeviceAsk& ask, HeldByIndex& held) {
    std::map<std::int32_t, std::vector<std::int32_t>> usable;
    std::vector<std::int32_t> any;
    for (const Device& device : devices) {
        if (!has_room(device, held[device.index], hold_on(devices, device.index, ask))) continue;
        usable[device.group].push_back(device.index);
        any.push_back(device.index);
    }
    const std::size_t count = count_of(ask);
    const std::vector<std::int32_t>* from = ask.same_group || any.size() < count ? nullptr : &any;
    for (const auto& [group, members] : usable) {
        // The smallest group that suffices leaves the others whole.
        if (members.size() >= count && (from == nullptr || members.size() < from->size())) from = &members;
    }
    if (from == nullptr) return false;
    for (std::size_t i = 0; i < count; ++i)
        hold(held, hold_on(devices, (*from)[i], ask));
    return true;
}

// Whether all that one owner places on the node finds devices, if it may choose again.
bool could_choose_again(const Scene& scene, const PlacedPod& placed) {
    const std::string& owner = placed.owner();
    const auto mine = [&](const Seat& seat) { return seat.placed != nullptr && seat.placed->owner() == owner; };
    HeldByIndex held = held_by_others(scene, placed.node, mine);
    std::vector<DeviceAsk> asks;
    for (const PodId pod : scene.on(placed.node)) {
        if (mine(scene.seat(pod)) && scene.judged().spec(pod).devices.any())
            asks.push_back(scene.judged().spec(pod).devices);
    }
    std::ranges::sort(
        asks, [](const DeviceAsk& a, const DeviceAsk& b) { return a.whole != b.whole ? a.whole > b.whole : b < a; });
    const Node& node = *scene.judged().cluster.node(placed.node);
    return std::ranges::all_of(asks, [&](const DeviceAsk& ask) {
        return node.dialects.has(ask.dialect) && take_devices(node.devices, ask, held);
    });
}

}  // namespace

DeviceHold hold_on(std::span<const Device> devices, std::int32_t index, const DeviceAsk& ask) {
    if (ask.whole > 0) return {index, 0, 0};
    const Device* device = find_device(devices, index);
    const std::int64_t memory = device == nullptr ? 0 : device->memory;
    DeviceHold part{index, ask.share_memory, ask.share_milli};
    if (ask.share_memory > 0 && memory == 0) part.memory = kMoreThanThereIs;
    if (ask.share_memory_milli > 0) {
        // Of a device of unknown memory, a part of it still means that part of the device.
        if (memory == 0) part.milli = std::max<std::int64_t>(part.milli, ask.share_memory_milli);
        const Wide exact = Wide{memory} * ask.share_memory_milli / kWholeMilli;
        const Wide unit = ask.dialect == DeviceDialect::kPlain ? 1 : kMebibyteOfDevice;
        part.memory = saturating_add(part.memory, static_cast<std::int64_t>(exact / unit * unit));
    }
    return part;
}

void judge_devices(const Scene& scene, const PlacedPod& placed, Certainty certainty, Findings& out) {
    if (!scene.judged().spec(placed.pod).devices.any() || !scene.judged().filters_by("Devices")) return;
    const Dim whole = scene.judged().spec(placed.pod).devices.whole_dim;
    if (whole && claims_serve(scene.judged(), placed.node, whole)) return;  // a matter of claims
    if (certainty == Certainty::kOfFault) return judge_choice(scene, placed, out);
    if (!could_choose_again(scene, placed)) out.push_back({"Devices", "no devices are left"});
}

}  // namespace reprieve
