// SimulateJob: everything that `simulate` was asked for, read and checked before the first run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/simulate_command.h"
#include "base/result.h"
#include "simulate/policies.h"
#include "simulate/simulation.h"
#include "simulate/workload.h"

namespace reprieve {

// The jobs of one seed, with those that can never run.
struct SeedTrace {
    std::string file;
    JobTrace trace;
    std::vector<std::string> never;
};

struct SimulateJob {
    std::vector<TraceNode> nodes;
    std::vector<std::string> manifests;
    std::vector<Policy> policies;
    std::map<std::uint64_t, SeedTrace> seeds;  // where the trace is the same for all, only 1
    std::int64_t seed_count = 1;
    SimulationOptions options;
    std::string key;                   // of all that the results depend on: equal keys, equal bytes
    std::string command;               // that makes it again
    std::vector<std::string> remarks;  // for people, before it starts

    [[nodiscard]] const SeedTrace& trace_of(std::uint64_t seed) const {
        const auto own = seeds.find(seed);
        return own != seeds.end() ? own->second : seeds.begin()->second;
    }
    // The nodes with what fails by the seeded model.
    std::optional<std::pair<Duration, Duration>> failures;  // mean time up and down
    [[nodiscard]] std::vector<TraceNode> nodes_of(std::uint64_t seed) const;
};

[[nodiscard]] Result<SimulateJob> read_simulate_job(const SimulateOptions& options);

}  // namespace reprieve
