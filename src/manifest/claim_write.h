// What a scheduler writes on a ResourceClaim, as JSON text in and text out: a claim as the server gave it, changed in
// the one way that is meant, so that the server's resourceVersion guards every write. Fields that we do not know are
// left as they are.
//
// The order of writes is the contract (docs/claims.md): finalizer, then allocation and consumer in one, then the
// binding of the pod. The embedded cluster and the real one are written to by the same functions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "manifest/binding_conditions.h"
#include "model/plan.h"

namespace reprieve {

// Keeps a claim that has devices from being deleted under its users.
inline constexpr const char* kClaimFinalizer = "resource.kubernetes.io/delete-protection";

// A claim as the server has it, as far as writing depends on it.
struct ClaimStanding {
    std::string uid;
    std::string version;  // resourceVersion
    bool deleting = false;
    bool has_finalizer = false;
    bool allocated = false;
    std::vector<std::string> devices;    // "driver/pool/device" of its allocation, sorted
    std::vector<std::string> consumers;  // UIDs
    std::string owner;                   // UID of the pod that owns it; empty: none does
    [[nodiscard]] bool is_reserved_for(const std::string& pod_uid) const;
};

// Nothing: the text is no claim.
[[nodiscard]] std::optional<ClaimStanding> read_claim_standing(std::string_view claim);

// "driver/pool/device" of what a plan gives a claim, sorted.
[[nodiscard]] std::vector<std::string> devices_of(const PlacedClaim& placed);

[[nodiscard]] std::string with_claim_finalizer(std::string_view claim);
// Where the claim has no allocation yet, also the devices. `classes`: DeviceClasses as text, by name; their
// configuration is handed to the driver together with the claim's own.
[[nodiscard]] std::string with_claim_consumer(std::string_view claim,
                                              const PlacedClaim& placed,
                                              const std::map<std::string, std::string>& classes,
                                              const std::string& pod_name,
                                              const std::string& pod_uid,
                                              Time now);
// Without the pod. `deallocate`: with nobody left, also without its devices.
[[nodiscard]] std::string without_claim_consumer(std::string_view claim, const std::string& pod_uid, bool deallocate);

// What the devices' drivers say about binding (status.devices[].conditions).
[[nodiscard]] BindingState binding_state(std::string_view claim, const PlacedClaim& placed);

// The claim that stands for a pod's extended resources, to be created; and what its pod's status says of it.
[[nodiscard]] std::string extended_claim_body(const PlacedClaim& placed,
                                              const std::string& api_version,
                                              const std::string& pod_name,
                                              const std::string& pod_uid);
[[nodiscard]] std::string extended_claim_status(const PlacedClaim& placed, std::string_view pod);

}  // namespace reprieve
