// Workload: what a simulation is given: the nodes of a cluster and the jobs that arrive at it, as values.
//
// Times count from the start of the trace. Amounts are integers: milli-CPU, bytes, milli-GPU of one pod. Jobs are in
// the order of their arrival; jobs that arrive together stay in the order written. Texts that many jobs share (queues,
// topology keys, selectors) are kept once, so that a million jobs fit into memory.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"

namespace reprieve {

inline constexpr std::int64_t kMilliGpu = 1000;

struct Outage {
    Duration at;
    Duration down;
    friend bool operator==(const Outage&, const Outage&) = default;
};

struct TraceNode {
    std::string name;
    std::int64_t cpu_milli = 0;
    std::int64_t memory = 0;
    std::int64_t gpus = 0;
    std::vector<std::pair<std::string, std::string>> labels;
    std::vector<Outage> outages;  // by time, one after the other
    friend bool operator==(const TraceNode&, const TraceNode&) = default;
};

// "k=v|w": a label and the values of which a node must have one.
struct LabelNeed {
    std::string key;
    std::vector<std::string> values;
    friend bool operator==(const LabelNeed&, const LabelNeed&) = default;
};

struct TraceJob {
    std::string name;
    Duration submit;
    Duration duration;  // of each pod
    Duration checkpoint;
    Duration restart;
    std::int64_t cpu_milli = 0;
    std::int64_t memory = 0;
    std::int64_t gpu_milli = 0;  // below 1000: a share of one device
    std::int32_t pods = 1;
    std::int32_t min = 1;
    std::int32_t priority = 0;
    std::uint32_t queue = 0;     // in JobTrace::queues
    std::uint32_t topology = 0;  // in JobTrace::topologies
    std::uint32_t selector = 0;  // in JobTrace::selectors

    [[nodiscard]] std::int64_t all_gpu_milli() const { return gpu_milli * pods; }
};

struct JobTrace {
    std::vector<TraceJob> jobs;
    std::vector<std::string> queues{""};  // 0: none named
    std::vector<std::string> topologies{""};
    std::vector<std::vector<LabelNeed>> selectors{{}};
    std::vector<std::string> warnings;     // what was put right, a sentence each
    std::vector<std::string> derivations;  // what is ours and not the trace's: "swf=1gpu"

    // By arrival; a warning says how many had to move.
    void sort_by_arrival(const std::string& file);
};

}  // namespace reprieve
