// `reprieve simulate`: policies side by side on a whole workload.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace reprieve {

struct SimulateOptions {
    std::vector<std::string> cluster;   // nodes.csv, or manifests
    std::string trace;                  // jobs.csv or SWF; {seed} stands for the seed
    std::vector<std::string> policies;  // NAME or NAME=FILE; none: reprieve
    std::int64_t seeds = 1;
    std::string until;     // seconds of the trace, or a duration
    std::string grace;     // a duration
    std::string failures;  // UP/DOWN, two durations
    std::string out;
    std::int64_t processes = 0;  // at once; 0: as many as there are cores
};

[[nodiscard]] int simulate_command(const SimulateOptions& options);

}  // namespace reprieve
