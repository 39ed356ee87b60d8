// Placement alone: pods in the order of arrival, each to the node with the best score, nobody evicted, nobody leaving.
//
// The scores are those of "Beware of Fragmentation" (ATC 2023) and of what it was compared with; ties go to the
// smallest node name. With them the paper's published allocation on its own trace can be checked. A pod that finds no
// room is lost; a share of a GPU takes one device, n GPUs take n idle ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/outcome.h"
#include "simulate/policies.h"
#include "simulate/workload.h"

namespace reprieve {

// Samples are taken at each whole percent of the cluster's GPUs that has been asked for. REQUIRES: one pod a job.
[[nodiscard]] RunOutcome place_all(const std::vector<TraceNode>& nodes,
                                   const JobTrace& trace,
                                   PlaceScore score,
                                   std::uint64_t seed);

}  // namespace reprieve
