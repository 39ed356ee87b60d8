// Results: the numbers of a run, and the files that a simulation leaves behind.
//
// The tables of a run are written by itself and put together in the order of policies and seeds afterwards, so that the
// bytes do not depend on which run ended first, or on how often it all was interrupted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "simulate/outcome.h"
#include "simulate/workload.h"

namespace reprieve {

struct RunName {
    std::string policy;
    std::uint64_t seed = 1;
};

struct Jct {
    double mean = 0;
    double p50 = 0;
    double p99 = 0;
};

struct RunSummaryRow {
    std::string name;
    std::uint64_t seed = 1;
    std::int64_t jobs = 0;
    std::int64_t never_fit = 0;
    std::int64_t finished = 0;
    std::int64_t evictions = 0;
    std::int64_t pods_lost = 0;
    double used_hours = 0;
    double lost_hours = 0;
    double idle_hours = 0;
    double utilisation = 0;
    std::map<std::int32_t, double> wait_p50;  // by priority, in seconds
    std::map<std::int32_t, double> wait_p99;
    Jct jct;
    double makespan = 0;
    std::int64_t decisions = 0;
    std::int64_t optimal = 0;
    double allocated = 0;       // the largest part of the GPUs that was held at once
    std::int64_t cascades = 0;  // evictions for somebody who had been evicted
    std::int64_t cycles = 0;
    bool conserved = true;
    double wall_seconds = 0;
};

[[nodiscard]] RunSummaryRow summarise(const RunName& name,
                                      const JobTrace& trace,
                                      const RunOutcome& outcome,
                                      double wall);

// One object, on one line.
[[nodiscard]] std::string summary_json(const RunSummaryRow& row);

// Rows without the header.
[[nodiscard]] std::string jobs_rows(const RunName& name, const JobTrace& trace, const RunOutcome& outcome);
[[nodiscard]] std::string evictions_rows(const RunName& name,
                                         const JobTrace& trace,
                                         const std::vector<TraceNode>& nodes,
                                         const RunOutcome& outcome);
[[nodiscard]] std::string samples_rows(const RunName& name, const RunOutcome& outcome);

inline constexpr const char* kJobsHeader =
    "policy,seed,job_id,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,"
    "execution_time,finish_time,waiting_time,turnaround_time,stretch,evictions,restarts,lost_gpu_s,queue,priority,gang,"
    "gpus\n";
inline constexpr const char* kEvictionsHeader =
    "policy,seed,time,pod,job,queue,priority,gpus,node,for,action,certificate,depth,lost_gpu_s,reason\n";
inline constexpr const char* kSamplesHeader =
    "policy,seed,time,gpus,gpus_held,gpus_working,gpus_asked,running_jobs,waiting_jobs,waiting_pods,evictions,lost_gpu_"
    "h\n";
inline constexpr const char* kHistoryHeader = "policy,seed,time,what,pod,node\n";

// "12.5", "3": at most three decimals, no zeros at the end.
[[nodiscard]] std::string short_number(double value);
[[nodiscard]] std::string json_text(std::string_view text);

}  // namespace reprieve
