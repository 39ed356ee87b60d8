// What one device has to do with one wish: taints, attributes, and how much of its capacities the wish takes.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "state/claim_book.h"
#include "state/device_pools.h"

namespace reprieve {

// The first taint that keeps the device from being given; null: none does.
[[nodiscard]] const DeviceTaint* untolerated(const DeviceWish& wish, const DeviceOffer& offer);
[[nodiscard]] const DeviceAttribute* attribute_of(const PooledDevice& device, const QualifiedName& name);
[[nodiscard]] bool matches_any(const std::vector<NodeSelectorTerm>& terms, const Node& node, const Vocabulary& words);
// From where all of these can be used: this node if one of them is bound to it, else the union of what they require;
// nothing: from every node.
[[nodiscard]] std::optional<std::vector<NodeSelectorTerm>> nodes_for(std::span<const DeviceOffer* const> offers,
                                                                     StringId node);
// Appends what the wish takes of each capacity, in the order of the device's. False: the device lacks one that is asked
// for, has less of it, or its policy forbids the amount.
[[nodiscard]] bool amounts_for(const Vocabulary& words,
                               const DeviceWish& wish,
                               const DeviceOffer& offer,
                               std::vector<ConsumedAmount>& out);

// Some device may round the wish up to more than 64 bits hold.
[[nodiscard]] bool asks_for_much(const DeviceWish& wish);
// What is wrong where this device does: upstream ends the attempt there and looks for no other device. Empty: nothing.
[[nodiscard]] std::string out_of_range(const Vocabulary& words, const DeviceWish& wish, const DeviceOffer& offer);
[[nodiscard]] Wide amount_in(std::span<const ConsumedAmount> amounts, const QualifiedName& name);

using CounterKey = std::pair<StringId, StringId>;  // set, counter
// Adds what the device uses of the counters of its pool.
void charge(const PooledDevice& device, std::map<CounterKey, Wide>& used);

// Whether a constraint that has met these attributes allows one more.
[[nodiscard]] bool allows(const DeviceConstraint& constraint,
                          std::span<const DeviceAttribute* const> seen,
                          const DeviceAttribute& attribute);

}  // namespace reprieve
