#include "app/references.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "state/devices.h"
#include "state/said_devices.h"

namespace reprieve {
namespace {

class References {
public:
    explicit References(const Cluster& cluster) : cluster_(cluster), snapshot_(cluster.snapshot()) {}

    std::vector<std::string> sentences() {
        for (PodId id : IdRange<PodId>(snapshot_.pods.size())) {
            const PodState state = snapshot_.pods[id].state;
            if (state == PodState::kAbsent || state == PodState::kIgnored) continue;
            look_at_class(cluster_.pod(id));
            look_at_devices(id);
        }
        for (const auto& [node, use] : use_)
            look_at_use(node, use);
        std::vector<std::string> out;
        for (const auto& [sentence, count] : counts_)
            out.push_back(count == 1 ? sentence : fmt::format("{} ({} times)", sentence, count));
        return out;
    }

private:
    // Where a pod says its priority itself, nothing is lost.
    void look_at_class(const Pod& pod) {
        if (!pod.priority_class || pod.priority || cluster_.priority_class(pod.priority_class) != nullptr) return;
        const std::string_view name = cluster_.words().text(pod.priority_class);
        if (name == "system-cluster-critical" || name == "system-node-critical") return;  // every cluster has them
        ++counts_[fmt::format("PriorityClass {} does not exist; pods that name it have priority 0", name)];
    }

    void look_at_devices(PodId id) {
        const NodeId node = snapshot_.pods[id].node;
        if (node && device_words_of(cluster_.pod(id)) == DeviceWords::kGroup) look_at_groups(node, id);
        if (!node || device_words_of(cluster_.pod(id)) != DeviceWords::kNames) return;
        const std::vector<Device>& devices = cluster_.node(node)->devices;
        const std::vector<DeviceHold> held = said_devices(devices, snapshot_.spec_of(id).devices, cluster_.pod(id), {});
        for (const NamedHold& named : cluster_.pod(id).more().named_devices) {
            if (named.by == NamedHold::By::kGroup) continue;
            const bool by_id = named.by == NamedHold::By::kId;
            const auto at = by_id ? std::ranges::find(devices, named.name, &Device::id)
                                  : std::ranges::find(devices, named.index, &Device::index);
            if (at != devices.end()) continue;
            ++counts_[fmt::format(
                "Node {} has no device {}, which a pod says it holds",
                snapshot_.node_name(node),
                by_id ? std::string(cluster_.words().text(named.name)) : fmt::format("{}", named.index))];
        }
        for (const DeviceHold& hold : held) {
            if (std::ranges::none_of(devices, [&](const Device& d) { return d.index == hold.index; }))
                ++counts_[fmt::format(
                    "Node {} has no device {}, which a pod says it holds", snapshot_.node_name(node), hold.index)];
        }
        auto [at, fresh] = use_.try_emplace(node);
        if (fresh) at->second.resize(devices.size());
        hold_devices(devices, at->second, held, +1);
    }

    // Which device a group has is made up, so a group without one is told by its pods, which hold nothing.
    void look_at_groups(NodeId node, PodId id) {
        const std::vector<NamedHold>& named = cluster_.pod(id).more().named_devices;
        if (snapshot_.spec_of(id).devices.shares == 0 || !snapshot_.holds[id].empty()) return;
        ++counts_[fmt::format("Node {} has fewer devices than pods on it say they share: GPU group {} has none",
                              snapshot_.node_name(node),
                              cluster_.words().text(named.front().name))];
    }

    void look_at_use(NodeId node, const std::vector<DeviceUse>& use) {
        const std::vector<Device>& devices = cluster_.node(node)->devices;
        for (std::size_t i = 0; i < use.size(); ++i) {
            const bool shared = use[i].whole > 1 || (use[i].whole == 1 && use[i].shares > 0);
            const bool memory = devices[i].memory > 0 && use[i].memory > devices[i].memory;
            const bool crowded = devices[i].sharers > 0 && use[i].shares > devices[i].sharers;
            if (shared || memory || crowded || use[i].milli > devices[i].milli)
                ++counts_[fmt::format("device {} of Node {} is held more than once or beyond its size",
                                      devices[i].index,
                                      snapshot_.node_name(node))];
        }
    }

    const Cluster& cluster_;
    const Snapshot& snapshot_;
    std::map<NodeId, std::vector<DeviceUse>> use_;
    std::map<std::string, std::size_t> counts_;
};

}  // namespace

std::vector<std::string> broken_references(const Cluster& cluster) { return References(cluster).sentences(); }

}  // namespace reprieve
