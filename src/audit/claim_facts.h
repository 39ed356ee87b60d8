// ClaimFacts: devices by claim as the audit sees them, worked out from the objects alone.
//
// Nothing here is shared with those who choose devices: slices are gathered per node by hand, and who holds what
// follows from reservedFor and from who is in the scene. Slow and plain.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "audit/scene.h"
#include "model/device_claims.h"

namespace reprieve {

using DeviceKey = std::tuple<StringId, StringId, StringId>;  // driver, pool, name

struct OfferedDevice {
    DeviceKey key;
    const PooledDevice* device = nullptr;
    const ResourceSlice* slice = nullptr;
};

// Whether the device can be used from the node, whatever other slices say there.
[[nodiscard]] bool reaches_device(const OfferedDevice& offer, const Node& node, const Vocabulary& words);

// What a node can use, and the pools behind it.
struct NodeOffers {
    std::vector<OfferedDevice> devices;
    std::vector<const ResourceSlice*> slices;  // of the pools it sees, wherever they reach
};

struct HeldAmounts {
    int whole = 0;
    int shares = 0;
    int admin = 0;  // given for admin access in the attempt at hand: charged like the others, and gone afterwards
    std::map<QualifiedName, Wide> amounts;
};
using HeldDevices = std::map<DeviceKey, HeldAmounts>;

// A claim that a pod wants, whether it exists or would be made.
struct WantedClaim {
    std::string name;  // "ns/name"
    ClaimSpec spec;
    const ResourceClaim* fact = nullptr;
};

[[nodiscard]] NodeOffers offers_on(const Case& judged, NodeId node);
// The pools behind what the nodes can use, by driver and name.
using PoolNames = std::set<std::pair<StringId, StringId>>;
void add_pools(const NodeOffers& offers, PoolNames& out);
// What is held of these pools in the scene. `without`: claims that count for nothing, by name.
[[nodiscard]] HeldDevices held_in(const Scene& scene, const PoolNames& pools, const std::vector<std::string>& without);
// The claims of a pod on that node, in order.
[[nodiscard]] std::vector<WantedClaim> wanted_by(const Case& judged, PodId pod, NodeId node);
// Whether a class stands behind the resource and the node has none of it.
[[nodiscard]] bool claims_serve(const Case& judged, NodeId node, Dim resource);
[[nodiscard]] const DeviceClass* device_class(const Case& judged, StringId name);
// Whether somebody keeps an allocated claim in the scene.
[[nodiscard]] bool is_kept(const Scene& scene, const ResourceClaim& claim);

// Whether the device passes the selectors of class and wish, reaches the node and has no taint in the way.
[[nodiscard]] bool suits(const Case& judged, const OfferedDevice& offer, const DeviceWish& wish, const Node& node);
// Whether a free device can end the attempt: a selector fails on it, or it is one of all and a constraint excludes it.
[[nodiscard]] bool may_end_in_an_error(const Case& judged, const WantedClaim& claim, NodeId node);
// What the wish takes of the device; nothing: the device cannot give it.
[[nodiscard]] std::optional<std::map<QualifiedName, Wide>> amounts_of(const Case& judged,
                                                                      const OfferedDevice& offer,
                                                                      const DeviceWish& wish);
// Whether the counters of these pools cover the devices that are held. A driver may have taken some back since: only
// who pays with the counters of a pool has to ask.
[[nodiscard]] std::string counters_short(const Case& judged,
                                         const NodeOffers& offers,
                                         const HeldDevices& held,
                                         const PoolNames& pools);
// Whether a new share or use of the device pays counters: those of a device that is shared already are paid for.
[[nodiscard]] bool pays_counters(const OfferedDevice& offer, const HeldDevices& held);

// A request and the alternative of it that a result of the plan stands for.
struct AskedDevice {
    const DeviceRequest* request = nullptr;
    const DeviceWish* wish = nullptr;
};
[[nodiscard]] std::string label_of(const Case& judged, const DeviceRequest& request, const DeviceWish& wish);
// `count`: how many results have the label. Alternatives may be called the same; then the first that can be meant.
[[nodiscard]] AskedDevice asked_by(
    const Case& judged, const ClaimSpec& spec, std::string_view label, std::int64_t count, const OfferedDevice& offer);

}  // namespace reprieve
