// Reading of traces: nodes.csv, jobs.csv and SWF. Nothing is guessed: what is malformed is an error with file, line and
// column; what is put right (arrivals out of order) is told.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simulate/workload.h"

namespace reprieve {

// name, count (1), cpu, memory, gpus (0), labels (k=v;k=v), fails (at+down;...). A row with a count stands for so many
// nodes NAME-0, NAME-1, ...
[[nodiscard]] Result<std::vector<TraceNode>> read_nodes_csv(const std::string& file, std::string_view text);

// job, submit, duration, pods (1), cpu, memory, gpus (0), priority (0), queue, min (= pods), topology, checkpoint (0),
// restart (0), selector (k=v|w;...).
[[nodiscard]] Result<JobTrace> read_jobs_csv(const std::string& file, std::string_view text);

// Standard Workload Format: every processor is a pod with one GPU, or with one core where the cluster has no GPUs.
[[nodiscard]] Result<JobTrace> read_swf(const std::string& file, std::string_view text, bool gpus);

}  // namespace reprieve
