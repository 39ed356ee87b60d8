// DevicePools: the devices that drivers offer, in the order in which they are given out.
//
// Made from all ResourceSlices and taint rules when one of them changes. Each node sees its own pools: driver, then
// pool name, pools with binding conditions last; inside a pool slices by name and devices as listed. That order is
// upstream's, so that what we choose is what kube-scheduler would. Only the newest generation of a pool counts; a pool
// of which slices are missing is incomplete, and one that contradicts itself is invalid: neither gives devices.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "model/device_claims.h"
#include "state/ids.h"

namespace reprieve {

class Vocabulary;

// A device as one slice describes it.
struct DeviceOffer {
    DeviceId device;
    const PooledDevice* fact = nullptr;
    const ResourceSlice* slice = nullptr;
    std::vector<DeviceTaint> taints;  // its own, and those of rules
};

struct NodePool {
    StringId driver;
    StringId name;
    std::string trouble;             // why it gives nothing; empty: it does
    bool incomplete = false;         // else invalid, where there is trouble
    std::vector<OfferId> offers;     // that this node can use, in order
    std::vector<OfferId> elsewhere;  // of other nodes; they use up the same counters
    std::vector<const CounterSet*> counters;
};

class DevicePools {
public:
    using Nodes = std::vector<std::pair<NodeId, const Node*>>;

    void build(std::vector<const ResourceSlice*> slices,
               std::span<const DeviceTaintRule* const> rules,
               const Nodes& nodes,
               const Vocabulary& words);

    [[nodiscard]] std::span<const NodePool> on_node(NodeId node) const;
    [[nodiscard]] const DeviceOffer& offer(OfferId id) const { return offers_[id]; }
    [[nodiscard]] std::size_t offer_count() const { return offers_.size(); }
    // The id of a device, whether a slice offers it or not.
    DeviceId device(StringId driver, StringId pool, StringId name);
    [[nodiscard]] DeviceId find(StringId driver, StringId pool, StringId name) const;
    [[nodiscard]] std::size_t device_count() const { return devices_.size(); }
    [[nodiscard]] const std::tuple<StringId, StringId, StringId>& key(DeviceId id) const { return keys_[id]; }
    // No device, and no counter, is shared between nodes.
    [[nodiscard]] bool all_local() const { return all_local_; }
    // Every description of the device.
    [[nodiscard]] std::span<const OfferId> offers_of(DeviceId id) const {
        return id.index() < offers_of_.size() ? std::span<const OfferId>(offers_of_[id]) : std::span<const OfferId>();
    }

private:
    struct Slice {
        const ResourceSlice* fact = nullptr;
        std::vector<OfferId> offers;
    };
    void add_slice(const ResourceSlice& slice, std::span<const DeviceTaintRule* const> rules);
    [[nodiscard]] std::vector<NodePool> gather(const Node& node,
                                               std::span<const std::uint32_t> slices,
                                               const Vocabulary& words) const;
    [[nodiscard]] NodePool make_pool(std::vector<std::uint32_t> mine,
                                     std::span<const std::uint32_t> all,
                                     const Vocabulary& words) const;

    std::map<std::tuple<StringId, StringId, StringId>, DeviceId> devices_;
    IdVector<DeviceId, std::tuple<StringId, StringId, StringId>> keys_;
    IdVector<DeviceId, std::vector<OfferId>> offers_of_;
    IdVector<OfferId, DeviceOffer> offers_;
    std::vector<Slice> slices_;                                                    // by name
    std::map<std::pair<StringId, StringId>, std::vector<std::uint32_t>> of_pool_;  // (driver, pool) -> slices
    IdVector<NodeId, std::vector<NodePool>> on_node_;
    bool all_local_ = true;
};

// Whether pods on the node can use what has this reach.
[[nodiscard]] bool reaches(const DeviceReach& reach, const Node& node, const Vocabulary& words);

}  // namespace reprieve
