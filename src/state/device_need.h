// DeviceNeed: devices by claim as dimensions of a cost, one for each DeviceClass (docs/decisions/0086).
//
// A demand asks for as many devices of a class as its unallocated claims request of it; a pod holds as many as its
// claims were given through requests of the class. Looking on (admin access) counts nothing, a share or a partition
// counts as the one device that was given. An extended resource with a class behind it is the same dimension, whoever
// serves it on a node.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "state/snapshot.h"

namespace reprieve {

// What a demand asks for, as far as its victims' cost is measured by it.
struct DemandNeed {
    struct OfClass {
        StringId cls;
        std::int64_t count = 0;
    };
    // The extended resource and the class behind it, by place in `devices`.
    struct Backed {
        Dim resource;
        std::uint32_t place = 0;
    };
    std::vector<Resources::Amount> amounts;  // but for those of extended resources that a class stands behind
    std::vector<OfClass> devices;
    std::vector<Backed> backed;

    // -1: it does not ask for this class.
    [[nodiscard]] std::int32_t place_of(StringId cls) const;
};

// `amounts`: what these pods request together.
[[nodiscard]] DemandNeed need_of(const Snapshot& snapshot,
                                 std::span<const PodId> pods,
                                 std::span<const Resources::Amount> amounts);

// The class that "request" or "request/alternative" of a claim names; none: the claim has no such request.
[[nodiscard]] StringId class_of_request(const ClaimSpec& spec, StringId label, const Vocabulary& words);

// Devices that the claim was given through requests of the class.
[[nodiscard]] std::int64_t devices_of_class(const Snapshot& snapshot, DeviceClaimId claim, StringId cls);

// Whether claims serve the extended resources of this running pod: then its requests for them are no devices besides.
[[nodiscard]] bool claims_serve(const Snapshot& snapshot, PodId pod);

// What work is counted by: a resource, a DeviceClass, or both where one stands behind the other.
struct WorkResource {
    Dim dim;
    StringId cls;
    [[nodiscard]] bool valid() const { return dim.valid() || cls.valid(); }
    explicit operator bool() const { return valid(); }
};
// What the pod requests of it; what its claims hold is not part of it.
[[nodiscard]] std::int64_t amount_of(const Snapshot& snapshot, PodId pod, const WorkResource& work);
// A DeviceClass may be named, or a resource; nothing: neither is known.
[[nodiscard]] WorkResource work_resource(const Snapshot& snapshot, std::string_view name);
// The resource, with the class behind it if there is one.
[[nodiscard]] WorkResource work_resource(const Snapshot& snapshot, Dim resource);

}  // namespace reprieve
