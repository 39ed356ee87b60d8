// What a kubelet checks before it admits a pod: resources and devices, worked out from the pods that are there.
#include <fmt/format.h>

#include <map>

#include "sim/kubelets.h"

namespace reprieve {
namespace {

struct DeviceUse {
    int whole = 0;
    int holders = 0;
    std::int64_t memory = 0;
    std::int64_t milli = 0;

    void add(const DeviceHold& hold) {
        ++holders;
        whole += hold.whole() ? 1 : 0;
        memory += hold.memory;
        milli += hold.milli;
    }
};

// What a claim serves (a DeviceClass stands behind it, and the node has none of its own) is not the node's to give.
bool is_claimed(const Vocabulary& words, const Resources& offered, const Pod& pod, Dim dim) {
    if (offered.get(dim) > 0) return false;
    const auto& asks = words.spec(pod.spec).extended;
    return std::any_of(asks.begin(), asks.end(), [&](const ExtendedAsk& ask) { return ask.resource == dim; });
}

Result<void> admit_resources(
    const Vocabulary& words, const Resources& offered, const Resources& used, const Pod& pod, bool claims_extended) {
    for (const auto& [dim, value] : words.spec(pod.spec).requests) {
        if (value <= 0 || used.get(dim) + value <= offered.get(dim) ||
            (claims_extended && is_claimed(words, offered, pod, dim)))
            continue;
        return fail(fmt::format(
            "OutOf{}: requested {}, used {}, capacity {}", words.text(dim), value, used.get(dim), offered.get(dim)));
    }
    return {};
}

Result<void> admit_devices(const Node& node,
                           const std::map<std::int32_t, DeviceUse>& used,
                           const std::vector<DeviceHold>& asked) {
    for (const DeviceHold& hold : asked) {
        const auto device = std::find_if(
            node.devices.begin(), node.devices.end(), [&](const Device& d) { return d.index == hold.index; });
        if (device == node.devices.end())
            return fail(fmt::format("UnexpectedAdmissionError: there is no device {}", hold.index));
        const auto found = used.find(hold.index);
        DeviceUse use = found == used.end() ? DeviceUse() : found->second;
        use.add(hold);
        const bool shared_whole = use.whole > 0 && use.holders > 1;
        const bool overfull = (device->memory > 0 && use.memory > device->memory) || use.milli > device->milli ||
                              (device->sharers > 0 && use.holders > device->sharers);
        if (shared_whole || overfull)
            return fail(fmt::format("UnexpectedAdmissionError: device {} is taken", hold.index));
    }
    return {};
}

}  // namespace

Result<void> admit_pod(const Store& store, const Store::Entry& node, const Pod& pod, bool claims_extended) {
    const Vocabulary& words = store.words();
    const Node& fact = std::get<Node>(node.object);
    Resources used;
    std::map<std::int32_t, DeviceUse> devices;
    for (SlotId slot : store.pods_on(node.key.name)) {
        const Pod& other = store.at(slot).pod();
        if (other.finished()) continue;
        used.add(words.spec(other.spec).requests);
        for (const DeviceHold& hold : other.more().held_devices)
            devices[hold.index].add(hold);
    }
    if (auto fits = admit_resources(words, fact.allocatable, used, pod, claims_extended); !fits) return fits;
    return admit_devices(fact, devices, pod.more().held_devices);
}

}  // namespace reprieve
