// Device choice: which devices the claims of a pod get on a node.
//
// Depth first over claims, requests and devices, first full solution wins; inside a request combinations in the order
// of the pools, across requests all orders. That is upstream's search, and so its answer is upstream's answer. What
// upstream does not have: branches without a solution are left early (device_chooser.h), so the first solution stays
// the same, and "nine of eight" ends after eight steps instead of 2^8.
//
// The choice is a pure function of facts and of what is held in the views given, so it is the same wherever it is
// asked. A device must be free in all views: one that is being left is not free now, one that is promised not later.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "state/claim_book.h"
#include "state/snapshot.h"

namespace reprieve {

inline constexpr std::size_t kMostClaimedDevices = 32;  // of one claim
inline constexpr std::int32_t kMostClaimUsers = 256;    // of one claim; the API server takes no more

enum class DeviceChoice : std::uint8_t {
    kFound,
    kNotMet,     // not with what is free
    kElsewhere,  // a claim is allocated already, for other nodes
    kBusy,       // a claim is being allocated for somebody else, or is on its way to be freed
    kTrouble,    // the attempt ends, whatever is free: something asked for makes no sense
    kHarmed,  // the attempt ends on a device that is free: a selector fails on it, or a constraint excludes one of all
    kGaveUp   // the work allowed was not enough to tell
};

struct ClaimGrant {
    DeviceClaimId claim;
    GivenDevices given;
    PodId promised_to;  // the pod of this plan that it was first allocated for; none: allocated as a fact
};

// Appends a grant for every claim of the pod that it would use on the node, also for those allocated already. A claim
// without requests is given just that; one for extended resources that the node has itself is not made.
// `why`: if not null, a sentence about what is in the way; it names the claim. `preferred`: devices that it takes if
// they will do, instead of those that an earlier plan promised to the pod.
[[nodiscard]] DeviceChoice choose_claimed_devices(const Snapshot& snapshot,
                                                  PodId pod,
                                                  NodeId node,
                                                  std::span<const ClaimBook* const> views,
                                                  std::vector<ClaimGrant>& out,
                                                  std::string* why = nullptr,
                                                  std::span<const DeviceId> preferred = {});

// Whether the claims of all these pods can be met on one node together: each device goes where it serves best, while
// the function above, asked pod by pod, gives each pod the first devices that suit it. A device on which a selector
// fails is passed over. So kNotMet says that these pods cannot all have their devices there, whoever is served first;
// what is found may still end for one of them on such a device.
// REQUIRES: no claim of theirs asks for admin access: whether that is given depends on who comes before.
// `out`: if not null, the devices of each pod, where all are given some. Adds the devices looked at to `steps`.
[[nodiscard]] DeviceChoice choose_for_all(const Snapshot& snapshot,
                                          std::span<const PodId> pods,
                                          NodeId node,
                                          std::span<const ClaimBook* const> views,
                                          std::vector<std::vector<DeviceId>>* out,
                                          std::int64_t& steps);

}  // namespace reprieve
