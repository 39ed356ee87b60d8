// ClaimBook: which claims hold which devices, in one view.
//
// A claim holds its devices from its first user to its last. Users are the pods in its reservedFor, pods of the plan,
// and consumers that no eviction removes. Joining and leaving are the same op with a sign, so that taking a change back
// gives back every byte: a claim without users has no allocation here, and a device without holders no amounts.
//
// There are as many rows as claims and devices, in three books, and victims go and come back all the time: a row is a
// few numbers. What a claim has as a fact stands in the ClaimTable; kept here is only what a plan promised, and what
// shares of a device take.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/wide.h"
#include "model/device_claims.h"
#include "model/pod.h"
#include "state/ids.h"

namespace reprieve {

// A device, or a share of one, as part of an allocation.
struct GivenDevice {
    DeviceId device;
    StringId request;    // "request" or "request/alternative"
    bool admin = false;  // looks on; takes nothing
    bool share = false;
    std::vector<ConsumedAmount> amounts;
    friend bool operator==(const GivenDevice&, const GivenDevice&) = default;
};

struct GivenDevices {
    std::vector<GivenDevice> devices;
    std::optional<std::vector<NodeSelectorTerm>> nodes;  // that can use them all; nothing: every node
    friend bool operator==(const GivenDevices&, const GivenDevices&) = default;
};

struct HeldDevice {
    std::int32_t whole = 0;
    std::int32_t shares = 0;
    friend bool operator==(const HeldDevice&, const HeldDevice&) = default;
    [[nodiscard]] bool idle() const { return whole == 0 && shares == 0; }
};

class ClaimBook {
public:
    void resize(std::size_t claims, std::size_t devices);

    // Sign +1: another user; with the first one the devices are taken. -1: one fewer.
    // `promised_to`: the pod of this plan for which the claim was allocated; none: it is allocated already.
    void use(DeviceClaimId claim, const GivenDevices& given, int sign, PodId promised_to = {});

    // What a claim holds, given what it has as a fact. Null: nobody uses the claim, so it has no devices.
    [[nodiscard]] const GivenDevices* allocation(DeviceClaimId claim, const std::optional<GivenDevices>& fact) const;
    [[nodiscard]] PodId promised_to(DeviceClaimId claim) const { return claims_[claim].promised_to; }
    [[nodiscard]] std::int32_t users(DeviceClaimId claim) const { return claims_[claim].users; }
    [[nodiscard]] const HeldDevice& held(DeviceId device) const { return devices_[device]; }
    // Of all shares of the device together, by name.
    [[nodiscard]] std::span<const ConsumedAmount> amounts(DeviceId device) const;
    [[nodiscard]] std::size_t device_count() const { return devices_.size(); }
    friend bool operator==(const ClaimBook&, const ClaimBook&) = default;

private:
    struct UsedClaim {
        std::int32_t users = 0;
        PodId promised_to;
        friend bool operator==(const UsedClaim&, const UsedClaim&) = default;
    };
    void hold(const GivenDevice& given, int sign);

    IdVector<DeviceClaimId, UsedClaim> claims_;
    std::map<DeviceClaimId, GivenDevices> promised_;  // of claims that are allocated in a plan
    IdVector<DeviceId, HeldDevice> devices_;
    std::map<DeviceId, std::vector<ConsumedAmount>> amounts_;
};

}  // namespace reprieve
