// One simulation: a policy on a workload, from the first arrival to the last completion, by the loop of `run`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "simulate/outcome.h"
#include "simulate/policies.h"
#include "simulate/workload.h"

namespace reprieve {

struct SimulationOptions {
    std::vector<std::string> manifests;  // facts beside the nodes; read again for each run
    std::vector<std::string> facts;      // the same, each an object's JSON
    Duration grace;
    std::optional<Duration> until;
    std::uint64_t seed = 1;
    bool express = true;                                  // see YardOptions
    std::function<void(std::size_t jobs_done)> progress;  // now and then
};

// `nodes` may be what the manifests hold. REQUIRES: the policy is no placement.
[[nodiscard]] Result<RunOutcome> simulate(const std::vector<TraceNode>& nodes,
                                          const JobTrace& trace,
                                          const std::vector<std::string>& never,
                                          const Policy& policy,
                                          const SimulationOptions& options);

}  // namespace reprieve
