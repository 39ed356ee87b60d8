// RunOutcome: what one run amounted to, job by job, eviction by eviction, and over time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "base/wide.h"

namespace reprieve {

inline constexpr Duration kNotYet{-1};

struct JobOutcome {
    Duration start = kNotYet;    // when its minimum first ran
    Duration finish = kNotYet;   // when its last pod was done
    Wide lost = 0;               // milli-GPU microseconds
    std::int32_t evictions = 0;  // of its pods, by decisions
    std::int32_t restarts = 0;   // how often it had to begin again
    bool never_fits = false;
};

struct EvictionOutcome {
    Duration at;
    std::uint32_t job = 0;
    std::int32_t pod = 0;
    std::uint32_t node = 0;
    std::string owner;  // for whom: "JOB" or "JOB-0"
    std::string action;
    std::string certificate;  // optimal, gap, heuristic
    std::string reason;
    Wide lost = 0;
    std::int32_t depth = 1;  // 2: for a job that was itself evicted before, and so on
};

// One thing that was decided: a pod bound to a node, or evicted from it.
struct Deciding {
    Duration at;
    std::uint32_t job = 0;
    std::int32_t pod = 0;
    std::uint32_t node = 0;
    bool evicts = false;
    friend bool operator==(const Deciding&, const Deciding&) = default;
};

struct Sample {
    Duration at;
    std::int64_t gpu_milli = 0;      // of nodes that are up
    std::int64_t held_milli = 0;     // by pods that are bound
    std::int64_t working_milli = 0;  // by pods that work
    std::int64_t running_jobs = 0;
    std::int64_t waiting_jobs = 0;
    std::int64_t waiting_pods = 0;
    std::int64_t evictions = 0;    // so far
    Wide lost = 0;                 // so far
    std::int64_t asked_milli = 0;  // by all jobs that have arrived
};

struct RunOutcome {
    std::vector<JobOutcome> jobs;  // as in the trace
    std::vector<EvictionOutcome> evictions;
    std::vector<Sample> samples;
    std::vector<Deciding> history;
    std::int64_t pods_lost = 0;  // evicted, gone with their gang, or on a node that failed
    std::int64_t decisions = 0;  // demands for which somebody was evicted
    std::int64_t optimal = 0;    // those proven to cost least
    std::int64_t cycles = 0;
    std::int64_t dropped_plans = 0;  // that broke a rule
    Duration end;                    // when the last pod stopped, or the end that was asked for
    Wide capacity = 0;               // milli-GPU microseconds from 0 to the end
    Wide used = 0;
    Wide lost = 0;
    bool conserved = false;
    std::string broken;  // what is wrong with the books; empty: nothing
};

}  // namespace reprieve
