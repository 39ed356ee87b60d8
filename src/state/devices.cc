#include "state/devices.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace reprieve {
namespace {

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20U;

// A part of the memory. Other dialects count in MiB and drop what is left over, so that shares of theirs add up.
std::int64_t part_of(std::int64_t memory, const DeviceAsk& ask) {
    const std::int64_t part = memory / 1000 * ask.share_memory_milli + memory % 1000 * ask.share_memory_milli / 1000;
    return ask.dialect == DeviceDialect::kPlain ? part : part - part % kMebibyte;
}

// What a share takes of one device; none where the device cannot say (memory unknown).
std::optional<DeviceHold> share_of(const Device& device, const DeviceAsk& ask) {
    DeviceHold hold{device.index, ask.share_memory, ask.share_milli};
    if (ask.share_memory_milli > 0) hold.memory += part_of(device.memory, ask);
    if ((ask.share_memory > 0 || ask.share_memory_milli > 0) && device.memory == 0) {
        // Without a known memory a part of it still means that part of the device; an amount in bytes means nothing.
        if (ask.share_memory > 0) return std::nullopt;
        hold.milli = std::max(hold.milli, std::int64_t{ask.share_memory_milli});
    }
    return hold;
}

// What the schedulers of HAMi and Volcano ask of a device beside amounts: a place among its sharers; all of its compute
// only where nobody else is; and no share without compute where all compute is given away. Removing others never makes
// any of it false.
bool sharers_allow(const Device& device, const DeviceUse& use, const DeviceHold& hold) {
    if (use.shares >= device.sharers) return false;
    if (hold.milli >= kMilliPerDevice && device.milli == kMilliPerDevice) return use.shares == 0;
    return hold.milli > 0 || device.milli == 0 || use.milli < device.milli;
}

bool has_room(const Device& device, const DeviceUse& use, const DeviceHold& hold) {
    return use.whole == 0 && use.memory + hold.memory <= device.memory && use.milli + hold.milli <= device.milli &&
           (device.sharers == 0 || sharers_allow(device, use, hold));
}

DeviceUse in_either(const DeviceUse& a, const DeviceUse& b) {
    return {.whole = std::max(a.whole, b.whole),
            .shares = std::max(a.shares, b.shares),
            .memory = std::max(a.memory, b.memory),
            .milli = std::max(a.milli, b.milli)};
}

// Whether there are as many usable devices as asked for, in one group where that is asked.
template <typename Usable>
bool enough_usable(std::span<const Device> devices, const DeviceAsk& ask, Usable usable) {
    const std::int32_t count = ask.whole > 0 ? ask.whole : ask.shares;
    const auto enough = [&](std::optional<std::int32_t> group) {
        std::int32_t found = 0;
        for (std::size_t at = 0; at < devices.size() && found < count; ++at)
            found += (!group || devices[at].group == *group) && usable(at) ? 1 : 0;
        return found >= count;
    };
    if (!ask.same_group) return enough(std::nullopt);
    return count <= 0 || std::ranges::any_of(devices, [&](const Device& d) { return enough(d.group); });
}

// Positions of usable devices, by NVLink group.
using Groups = std::map<std::int32_t, std::vector<std::size_t>>;

// Takes `count` positions: from one group if one suffices, else from as few as possible. Binpack prefers the group that
// is left with least, spread the one left with most.
bool take(
    const Groups& groups, std::size_t count, bool same_group, DevicePolicy policy, std::vector<std::size_t>& out) {
    const std::vector<std::size_t>* best = nullptr;
    for (const auto& [group, members] : groups) {
        if (members.size() < count) continue;
        if (best == nullptr ||
            (policy == DevicePolicy::kBinpack ? members.size() < best->size() : members.size() > best->size()))
            best = &members;
    }
    out.clear();
    if (best != nullptr) {
        out.assign(best->begin(), best->begin() + static_cast<std::ptrdiff_t>(count));
        return true;
    }
    if (same_group) return false;
    std::vector<const std::vector<std::size_t>*> by_size;
    for (const auto& [group, members] : groups)
        by_size.push_back(&members);
    std::ranges::stable_sort(by_size, [](const auto* a, const auto* b) { return a->size() > b->size(); });
    for (const auto* members : by_size) {
        for (std::size_t at : *members) {
            if (out.size() < count) out.push_back(at);
        }
    }
    return out.size() == count;
}

}  // namespace

bool choose_devices(std::span<const Device> devices,
                    std::span<const DeviceUse> use,
                    const DeviceAsk& ask,
                    std::vector<DeviceHold>& out) {
    out.clear();
    if (!ask.any()) return true;
    Groups groups;
    const bool whole = ask.whole > 0;
    const auto count = static_cast<std::size_t>(whole ? ask.whole : ask.shares);
    for (std::size_t at = 0; at < devices.size(); ++at) {
        if (whole) {
            if (use[at].idle()) groups[devices[at].group].push_back(at);
        } else if (const auto hold = share_of(devices[at], ask); hold && has_room(devices[at], use[at], *hold)) {
            groups[devices[at].group].push_back(at);
        }
    }
    if (!whole) {
        // Among devices with room for the share: binpack fills the fullest first, spread the emptiest; ties by index.
        for (auto& [group, members] : groups) {
            std::ranges::stable_sort(members, [&](std::size_t a, std::size_t b) {
                const auto key = [&](std::size_t at) {
                    return std::pair(use[at].milli * (1 << 20) + use[at].memory / (1 << 20), use[at].shares);
                };
                return ask.policy == DevicePolicy::kBinpack ? key(a) > key(b) : key(a) < key(b);
            });
        }
        if (count == 1 && groups.size() > 1) {
            // A single share is placed by device, not by group.
            std::vector<std::size_t> all;
            for (auto& [group, members] : groups)
                all.push_back(members.front());
            std::ranges::sort(all);
            const auto fuller = [&](std::size_t a, std::size_t b) {
                const auto key = [&](std::size_t at) {
                    return std::pair(use[at].milli * (1 << 20) + use[at].memory / (1 << 20), use[at].shares);
                };
                return ask.policy == DevicePolicy::kBinpack ? key(a) > key(b) : key(a) < key(b);
            };
            std::ranges::stable_sort(all, fuller);
            groups = {{0, {all.front()}}};
        }
    }
    std::vector<std::size_t> chosen;
    if (!take(groups, count, ask.same_group, ask.policy, chosen)) return false;
    std::ranges::sort(chosen);
    for (std::size_t at : chosen)
        out.push_back(whole ? DeviceHold{devices[at].index, 0, 0} : *share_of(devices[at], ask));
    return true;
}

bool devices_fit(std::span<const Device> devices,
                 std::span<const DeviceUse> now,
                 std::span<const DeviceUse> later,
                 const DeviceAsk& ask) {
    return enough_usable(devices, ask, [&](std::size_t at) {
        if (ask.whole > 0) return now[at].idle() && later[at].idle();
        const auto hold = share_of(devices[at], ask);
        return hold && has_room(devices[at], in_either(now[at], later[at]), *hold);
    });
}

DeviceHold hold_as_asked(const Device& device, const DeviceAsk& ask) {
    if (ask.shares == 0) return {device.index, 0, 0};
    // A share in bytes of a device of unknown memory could be all of it.
    return share_of(device, ask).value_or(DeviceHold{device.index, 0, 0});
}

bool lowest_free_devices(std::span<const Device> devices,
                         std::span<const DeviceUse> use,
                         const DeviceAsk& ask,
                         std::vector<DeviceHold>& out) {
    out.clear();
    const bool whole = ask.whole > 0;
    const auto count = static_cast<std::size_t>(whole ? ask.whole : ask.shares);
    for (std::size_t at = 0; at < devices.size() && out.size() < count; ++at) {
        if (whole) {
            if (use[at].idle()) out.push_back({devices[at].index, 0, 0});
        } else if (const auto hold = share_of(devices[at], ask); hold && has_room(devices[at], use[at], *hold)) {
            out.push_back(*hold);
        }
    }
    return out.size() == count;
}

bool devices_could_ever_fit(std::span<const Device> devices, const DeviceAsk& ask) {
    return enough_usable(devices, ask, [&](std::size_t at) {
        if (ask.whole > 0) return true;
        const auto hold = share_of(devices[at], ask);
        return hold && has_room(devices[at], DeviceUse{}, *hold);
    });
}

bool overfull(const Device& device, const DeviceUse& use) {
    return use.whole > 1 || (use.whole == 1 && use.shares > 0) || use.milli > device.milli ||
           (use.shares > 0 && use.memory > device.memory) || (device.sharers > 0 && use.shares > device.sharers);
}

std::vector<DeviceUse> held_in_either(std::span<const DeviceUse> now, std::span<const DeviceUse> later) {
    std::vector<DeviceUse> use(later.begin(), later.end());
    for (std::size_t i = 0; i < use.size(); ++i)
        use[i] = in_either(now[i], use[i]);
    return use;
}

void hold_devices(std::span<const Device> devices,
                  std::span<DeviceUse> use,
                  std::span<const DeviceHold> holds,
                  int sign) {
    for (const DeviceHold& hold : holds) {
        const auto at = std::ranges::lower_bound(devices, hold.index, {}, &Device::index);
        if (at == devices.end() || at->index != hold.index)
            continue;  // a pod may name a device its node no longer lists
        DeviceUse& u = use[static_cast<std::size_t>(at - devices.begin())];
        if (hold.whole()) {
            u.whole += sign;
        } else {
            u.shares += sign;
            u.memory += sign * hold.memory;
            u.milli += sign * hold.milli;
        }
    }
}

}  // namespace reprieve
