// RecordedWorkload: a record read as a workload: one's own history, to be simulated under another policy.
//
// What people and controllers asked for is kept; what the recorded policy did to it is taken out. A pod that was
// evicted and made again is one job; it did not leave and come back. Times count from the start of the record. What a
// record cannot say (how long an evicted pod would have run) is settled by a rule, counted, and said in
// `trace.warnings`.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "simulate/workload.h"

namespace reprieve {

struct RecordedWorkload {
    std::vector<TraceNode> nodes;    // all that were seen; outages where they were not there or not ready
    JobTrace trace;                  // gangs, and single pods as jobs of one
    std::vector<std::string> facts;  // queues, priority classes and namespaces as JSON, as last seen
    Duration length;                 // of the record
};

// A folder, or a file of one.
[[nodiscard]] bool is_record(const std::string& path);
[[nodiscard]] Result<RecordedWorkload> read_recorded_workload(const std::string& path);

}  // namespace reprieve
