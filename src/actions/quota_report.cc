#include "actions/quota_report.h"

namespace reprieve {
namespace {

// Every dimension that the quota lists or somebody in it asks for; cpu and memory always.
bool shows(const Queue& quota, const QuotaRuntime& runtime, QueueId id, Dim dim) {
    if (dim == kCpu || dim == kMemory || quota.limit.lists(dim) || quota.guarantee.lists(dim)) return true;
    return dim != kPods && (runtime.request(id, dim) != 0 || runtime.runtime(id, dim) != 0);
}

}  // namespace

void report_quota(const Snapshot& s, const Limits& limits, QueueId id, QueueReport& report) {
    const QuotaRuntime& runtime = *limits.runtime();
    for (Dim dim : IdRange<Dim>(s.dims)) {
        if (!shows(*s.queues[id].fact, runtime, id, dim)) continue;
        const std::string name = std::string(s.words->text(dim));
        report.shares["runtime"][name] = runtime.runtime(id, dim);
        report.shares["request"][name] = runtime.request(id, dim);
        report.shares["min"][name] = runtime.least(id, dim);
        report.shares["nonPreemptibleUsed"][name] = limits.kinds().fixed_use(s.now, id, dim);
    }
}

}  // namespace reprieve
