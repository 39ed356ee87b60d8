// What one run has to tell the report: its numbers, how waiting and completion are spread, who lost and who gained, the
// worst-hit jobs with their receipts. As JSON text; docs/simulate.md has the shape.
#pragma once

#include <string>
#include <vector>

#include "simulate/outcome.h"
#include "simulate/results.h"
#include "simulate/workload.h"

namespace reprieve {

[[nodiscard]] std::string run_report_json(const RunSummaryRow& row, const JobTrace& trace, const RunOutcome& outcome);

// Everything decided, a line each: two policies part where their lines do.
[[nodiscard]] std::string history_rows(const JobTrace& trace,
                                       const std::vector<TraceNode>& nodes,
                                       const RunOutcome& outcome);

// Load, sizes and queues of a trace: is this my cluster?
[[nodiscard]] std::string trace_report_json(const std::vector<TraceNode>& nodes, const JobTrace& trace);

}  // namespace reprieve
