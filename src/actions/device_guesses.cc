#include "actions/device_guesses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace reprieve {
namespace {

constexpr std::size_t kNamed = 3;

// Devices that are made up from a number are all alike: whoever holds which makes no difference.
bool told_apart(const std::vector<Device>& devices) {
    return std::ranges::any_of(devices, [&](const Device& d) {
        return d.memory != 0 || d.numa != devices.front().numa || d.group != devices.front().group;
    });
}

// Pods on the node that hold devices and do not say which.
std::vector<std::string> silent_holders(const Cluster& cluster, NodeId node) {
    const Snapshot& s = cluster.snapshot();
    std::vector<std::string> silent;
    for (PodId pod : s.node_pods[node]) {
        const PodRow& row = s.pods[pod];
        const bool is_there = row.state == PodState::kRunning || row.state == PodState::kTerminating;
        if (is_there && s.classes[row.cls].has_devices && cluster.pod(pod).more().held_devices.empty())
            silent.push_back(s.pod_name(pod));
    }
    std::ranges::sort(silent);
    return silent;
}

}  // namespace

std::vector<std::string> device_guesses(const Plan& plan, const Cluster& cluster) {
    std::set<std::string> nodes;
    for (const Placement& placement : plan.placements) {
        if (!placement.devices.empty()) nodes.insert(placement.node);
    }
    std::vector<std::string> guesses;
    for (const std::string& name : nodes) {
        const StringId word = cluster.words().find_string(name);
        const NodeId node = word ? cluster.find_node(word) : NodeId();
        std::vector<std::string> silent = node && told_apart(cluster.snapshot().devices[node])
                                              ? silent_holders(cluster, node)
                                              : std::vector<std::string>();
        if (silent.empty()) continue;
        const std::size_t others = silent.size() - std::min(silent.size(), kNamed);
        silent.resize(silent.size() - others);
        guesses.push_back(
            fmt::format("node {}: the devices of {}{} are assumed to be the lowest free ones; no annotation "
                        "reprieve.dev/devices says which",
                        name,
                        fmt::join(silent, ", "),
                        others > 0 ? fmt::format(" and {} more", others) : ""));
    }
    return guesses;
}

}  // namespace reprieve
