#include "actions/device_guesses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "state/said_devices.h"

namespace reprieve {
namespace {

constexpr std::size_t kNamed = 3;

// Devices that are made up from a number are all alike: whoever holds which makes no difference.
bool told_apart(const std::vector<Device>& devices) {
    return std::ranges::any_of(devices, [&](const Device& d) {
        return d.memory != 0 || d.numa != devices.front().numa || d.group != devices.front().group;
    });
}

// In which dialect a pod does not say what it holds; and whether its node is registered in it.
struct Silence {
    DeviceDialect dialect = DeviceDialect::kPlain;
    bool registered = true;
    friend auto operator<=>(const Silence&, const Silence&) = default;
};

// Pods on the node that hold devices and do not say which.
std::map<Silence, std::vector<std::string>> silent_holders(const Cluster& cluster, NodeId node) {
    const Snapshot& s = cluster.snapshot();
    const Node& fact = *cluster.node(node);
    const bool counted = fact.dialects.has(DeviceDialect::kKai) && !fact.dialects.has(DeviceDialect::kHami);
    std::map<Silence, std::vector<std::string>> silent;
    for (PodId pod : s.node_pods[node]) {
        const PodRow& row = s.pods[pod];
        const bool is_there = row.state == PodState::kRunning || row.state == PodState::kTerminating;
        if (!is_there || !s.classes[row.cls].has_devices) continue;
        const DeviceAsk& ask = s.spec_of(pod).devices;
        if (counted && ask.whole > 0) continue;  // what a number counts is alike, also where a label says its size
        const bool registered = fact.dialects.has(ask.dialect);
        if (device_words_of(cluster.pod(pod)) == DeviceWords::kNothing || !registered)
            silent[{ask.dialect, registered}].push_back(s.pod_name(pod));
    }
    for (auto& [silence, names] : silent)
        std::ranges::sort(names);
    return silent;
}

std::string name_some(std::vector<std::string> names) {
    const std::size_t others = names.size() - std::min(names.size(), kNamed);
    names.resize(names.size() - others);
    return fmt::format("{}{}", fmt::join(names, ", "), others > 0 ? fmt::format(" and {} more", others) : "");
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
        if (!node) continue;
        for (const auto& [silence, pods] : silent_holders(cluster, node)) {
            if (!silence.registered) {
                guesses.push_back(fmt::format(
                    "node {}: {} are assumed to have whole devices, the lowest free ones: the node has no {}",
                    name,
                    name_some(pods),
                    registration_of(silence.dialect)));
            } else if (told_apart(cluster.snapshot().devices[node])) {
                guesses.push_back(
                    fmt::format("node {}: the devices of {} are assumed to be the lowest free ones; no {} "
                                "says which",
                                name,
                                name_some(pods),
                                hold_words_of(silence.dialect)));
            }
        }
    }
    return guesses;
}

}  // namespace reprieve
