// Device choice: which devices the claims of a pod get on a node.
//
// Depth first over claims, requests and devices, first full solution wins; inside a request combinations in the order
// of the pools, across requests all orders. That is upstream's search, and so its answer is upstream's answer. What
// upstream does not have: a device that led nowhere is not followed by another one that is like it in everything that
// this search looks at. Such a branch cannot succeed either (exchange the two devices in it), so the first solution
// stays the same, and "nine of eight" ends after eight steps instead of 2^8.
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
// `why`: if not null, a sentence about what is in the way; it names the claim.
[[nodiscard]] DeviceChoice choose_claimed_devices(const Snapshot& snapshot,
                                                  PodId pod,
                                                  NodeId node,
                                                  std::span<const ClaimBook* const> views,
                                                  std::vector<ClaimGrant>& out,
                                                  std::string* why = nullptr);

}  // namespace reprieve
