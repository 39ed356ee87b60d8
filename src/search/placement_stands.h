// What this plan has placed so far, and rules that look at other pods.
//
// Required affinity and hard spread of a pod can be satisfied, or unsettled, by pods that are only promised: nominated
// pods may never come. And pods that this plan has placed may rest on pods that a later decision would evict.
#pragma once

#include <span>
#include <vector>

#include "search/session.h"

namespace reprieve {

// Whether a placed or nominated pod would still be put where it is: its queue's limits, every filter, its own devices.
// Members of a gang with required affinity are lifted together and come back one by one: they may not rest on nothing
// but each other while somebody else matches.
[[nodiscard]] bool placement_stands(Session& session, PodId pod);

// Nominated pods whose being there changes what the pod's required affinity and hard spread say. Members of its own
// gang come together with it and do not count.
[[nodiscard]] std::vector<PodId> nominated_that_matter(const Session& session, PodId pod);

// Whether the pod also passes without these nominated pods (upstream's second pass).
[[nodiscard]] bool fits_without(Session& session,
                                const Candidate& candidate,
                                std::span<const PodId> nominated,
                                NodeId node);

}  // namespace reprieve
