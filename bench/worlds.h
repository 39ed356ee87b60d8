// Worlds for benchmarks, made in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "state/cluster.h"

namespace reprieve {

struct PodShape {
    std::string name;
    std::int64_t cpu_milli = 0;
    std::int64_t memory = 0;
    std::int64_t gpus = 0;
    std::int32_t priority = 0;
    std::string node;  // empty: pending
    std::string group;
    std::int64_t started_s = 0;
};

void add_node(
    Cluster& cluster, const std::string& name, std::int64_t cpu_milli, std::int64_t memory, std::int64_t gpus = 0);
void add_pod(Cluster& cluster, const PodShape& shape);
void add_gang(
    Cluster& cluster, const std::string& name, std::int32_t min, std::int32_t priority, std::int32_t hard_tier = 0);

// N nodes of 4 CPU with four pods of 900m each, and `preemptors` pending pods of 3 CPU.
[[nodiscard]] std::unique_ptr<Cluster> preemption_basic(std::int64_t nodes, std::int64_t preemptors);

// Nodes of 8 GPUs in racks of 16 and rows of 64, full of running gangs of 1, 2, 4 and 8 whole nodes laid side by side
// (or of mixed pods of 1 to 8 GPUs), and one pending gang of `members` whole nodes with hard topology up to tier 2.
[[nodiscard]] std::unique_ptr<Cluster> gpu_rows(std::int64_t nodes, std::int64_t members, bool mixed);

}  // namespace reprieve
