// Volume choice: which volume each claim of a pod gets that is bound only when the pod is placed.
//
// Claims choose from the smallest to the largest request; each takes the smallest volume that is large enough, then by
// name, or is provisioned where no volume is left; one that finds nothing makes others of the same pod move. The choice
// is a pure function of facts and of what the plan has promised already, so it is the same wherever it is asked.
#pragma once

#include <cstdint>
#include <vector>

#include "state/bindings.h"
#include "state/snapshot.h"

namespace reprieve {

enum class VolumeChoice : std::uint8_t {
    kFound,
    kElsewhere,  // a claim is promised to another node, or to a volume out of this one's reach
    kNothing     // no volume is left to bind, and none can be provisioned here
};

// Appends one binding for every waiting claim; those that found nothing are listed without a volume.
[[nodiscard]] VolumeChoice choose_volumes(const Snapshot& snapshot,
                                          const PodClass& cls,
                                          NodeId node,
                                          const Bindings& promised,
                                          std::vector<ClaimBinding>& out);

// Whether pods on the node can use the volume.
[[nodiscard]] bool reaches(const PersistentVolume& volume, const Node& node, const Vocabulary& words);

}  // namespace reprieve
