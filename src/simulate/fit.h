// Fit: whether a job could ever run on this cluster, if it had the cluster to itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/workload.h"

namespace reprieve {

// For each job, why it can never run; empty: it can. Jobs alike are looked at once.
[[nodiscard]] std::vector<std::string> why_never(const std::vector<TraceNode>& nodes, const JobTrace& trace);

[[nodiscard]] bool selects(const std::vector<LabelNeed>& needs, const TraceNode& node);

}  // namespace reprieve
