// What a plan tells of an ElasticQuota beside its use: runtime, request, min (scaled) and nonPreemptibleUsed.
#pragma once

#include "model/plan.h"
#include "plugins/limits.h"

namespace reprieve {

// REQUIRES: the queue is an ElasticQuota, and the snapshot is as it was before the plan.
void report_quota(const Snapshot& snapshot, const Limits& limits, QueueId quota, QueueReport& report);

}  // namespace reprieve
