// Bindings: the claims that are bound when their pods come, and the volumes that are taken thereby.
//
// Kept by the ops that place pods, in the view `later` alone: what is promised is promised, whether its pod is bound
// now or waits. A claim keeps its volume until the last pod of the plan that uses it is taken away again.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "model/node.h"
#include "state/ids.h"
#include "state/pod_class.h"

namespace reprieve {

struct ClaimBinding {
    ClaimId claim;
    VolumeId volume;  // none: provisioned for the node
    NodeId node;      // of the first pod that uses the claim
    friend bool operator==(const ClaimBinding&, const ClaimBinding&) = default;
};

class Bindings {
public:
    // Sign +1: another pod uses these claims; -1: one pod fewer.
    void hold(std::span<const ClaimBinding> claims, int sign);

    [[nodiscard]] bool empty() const { return held_.empty(); }
    // Null: no pod of the plan uses the claim.
    [[nodiscard]] const ClaimBinding* find(ClaimId claim) const;
    [[nodiscard]] bool taken(VolumeId volume) const;
    // Appends what a placed pod of this class holds.
    void list(const PodClass& cls, std::vector<ClaimBinding>& out) const;
    friend bool operator==(const Bindings&, const Bindings&) = default;

private:
    struct Held {
        ClaimBinding binding;
        std::int32_t users = 0;
        friend bool operator==(const Held&, const Held&) = default;
    };
    std::vector<Held> held_;       // sorted by claim
    std::vector<VolumeId> taken_;  // sorted
};

}  // namespace reprieve
