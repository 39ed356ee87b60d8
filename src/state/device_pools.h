// DevicePools: the devices that drivers offer, in the order in which they are given out.
//
// Each node sees its own pools: driver, then pool name, pools with binding conditions last; inside a pool slices by
// name and devices as listed. That order is upstream's, so that what we choose is what kube-scheduler would. Only the
// newest generation of a pool counts; a pool of which slices are missing is incomplete, and one that contradicts itself
// is invalid: neither gives devices.
//
// A slice comes and goes by itself. Nodes that can see its pool are stale then, and what they see is gathered again
// before the next question: for the slice of one node that is one node. A device keeps its id for as long as the table
// lives, whether a slice offers it or not, because claims name it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/flat_index.h"
#include "model/device_claims.h"
#include "state/ids.h"
#include "state/one_or_few.h"

namespace reprieve {

class Vocabulary;
class WordMarks;

// A device as one slice describes it.
struct DeviceOffer {
    DeviceId device;
    const PooledDevice* fact = nullptr;
    const ResourceSlice* slice = nullptr;
    Rare<std::vector<DeviceTaint>> taints;  // its own, and those of rules
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
    // `slot`: a number of its own, that no other slice has meanwhile.
    void add_slice(std::uint32_t slot,
                   const ResourceSlice& slice,
                   std::span<const DeviceTaintRule* const> rules,
                   const Vocabulary& words);
    // Before the fact changes or goes. What it offered has no meaning afterwards.
    void remove_slice(std::uint32_t slot);
    [[nodiscard]] std::span<const OfferId> offers_of_slice(std::uint32_t slot) const {
        return slot < slices_.size() ? std::span<const OfferId>(slices_[slot].offers) : std::span<const OfferId>();
    }

    // Nodes that see something else than when they were gathered, by name.
    [[nodiscard]] const std::set<StringId>& stale_nodes() const { return stale_; }
    [[nodiscard]] bool all_nodes_stale() const { return all_stale_; }
    [[nodiscard]] bool is_stale() const { return all_stale_ || !stale_.empty(); }
    void note_node(StringId name) { stale_.insert(name); }
    // `node`: null: it is gone.
    void gather(NodeId id, const Node* node, const Vocabulary& words);
    void settle();
    void mark(WordMarks& marks) const;

    [[nodiscard]] std::span<const NodePool> on_node(NodeId node) const;
    [[nodiscard]] const DeviceOffer& offer(OfferId id) const { return offers_[id]; }
    [[nodiscard]] std::size_t offer_count() const { return offers_.size(); }
    // Whether something holds of any device that a slice describes.
    template <typename Holds>
    [[nodiscard]] bool any_offer(const Holds& holds) const {
        return std::ranges::any_of(slices_,
                                   [&](const Slice& slice) { return std::ranges::any_of(slice.offers, holds); });
    }
    // The id of a device, whether a slice offers it or not.
    DeviceId device(StringId driver, StringId pool, StringId name);
    [[nodiscard]] DeviceId find(StringId driver, StringId pool, StringId name) const;
    [[nodiscard]] std::size_t device_count() const { return keys_.size(); }
    using DeviceKey = std::tuple<StringId, StringId, StringId>;  // driver, pool, name
    [[nodiscard]] const DeviceKey& key(DeviceId id) const { return keys_[id]; }
    // No device, and no counter, is shared between nodes.
    [[nodiscard]] bool all_local() const { return shared_.empty() && spread_pools_ == 0; }
    // Every description of the device.
    [[nodiscard]] std::span<const OfferId> offers_of(DeviceId id) const { return offers_of_.of(id); }

private:
    struct Slice {
        const ResourceSlice* fact = nullptr;  // null: the slot is not used
        std::vector<OfferId> offers;
    };
    using PoolKey = std::pair<StringId, StringId>;  // driver, pool

    // Sorted by the names of the slices.
    void enter(std::vector<std::uint32_t>& slots, std::uint32_t slot, const Vocabulary& words) const;
    void note_pool(const PoolKey& key);
    [[nodiscard]] bool is_spread(const PoolKey& key) const;
    [[nodiscard]] std::vector<NodePool> pools_of(const Node& node, const Vocabulary& words) const;
    [[nodiscard]] NodePool make_pool(const std::vector<std::uint32_t>& mine,
                                     std::span<const std::uint32_t> all,
                                     const Vocabulary& words) const;

    IdVector<DeviceId, DeviceKey> keys_;
    FlatIndex<DeviceId> index_;  // of the keys
    OneOrFew<DeviceId, OfferId> offers_of_;
    IdVector<OfferId, DeviceOffer> offers_;
    std::vector<OfferId> unused_offers_;
    std::vector<Slice> slices_;                              // by slot
    std::map<PoolKey, std::vector<std::uint32_t>> of_pool_;  // slices of all nodes
    std::map<StringId, std::vector<std::uint32_t>> of_node_;
    std::vector<std::uint32_t> shared_;  // slices that are not those of one node
    std::size_t spread_pools_ = 0;       // pools with slices of several nodes
    IdVector<NodeId, std::vector<NodePool>> on_node_;
    std::set<StringId> stale_;
    bool all_stale_ = false;
};

// Whether pods on the node can use what has this reach.
[[nodiscard]] bool reaches(const DeviceReach& reach, const Node& node, const Vocabulary& words);

}  // namespace reprieve
