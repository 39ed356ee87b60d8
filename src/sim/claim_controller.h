// ClaimController: Kubernetes' resourceclaim controller in the embedded cluster.
//
// It makes the claims that templates ask for, one for each pod, and says so in the pod's status. When a pod is gone or
// has ended, it leaves its claims; a claim that is left by its last user has no devices any more, and one that was made
// for a pod goes with it. A pod that is terminating keeps its claims.
#pragma once

#include <set>

#include "sim/store.h"

namespace reprieve {

inline constexpr const char* kClaimKind = "ResourceClaim.resource.k8s.io";

class ClaimController {
public:
    explicit ClaimController(Store& store) : store_(store) {}

    void observe(SlotId slot);
    // Serves the pods and claims that changed.
    void act();

private:
    void make_claims(SlotId pod);
    void sync(SlotId claim);
    // Whether a consumer, or an owner, is a pod that still needs the claim.
    [[nodiscard]] bool needs(const std::string& ns, const std::string& pod, const std::string& uid) const;

    Store& store_;
    std::set<SlotId> pods_;
    std::set<SlotId> claims_;
};

}  // namespace reprieve
