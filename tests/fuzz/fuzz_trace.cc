// No text breaks the readers of traces, and what they take in keeps their promises.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "simulate/read_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reprieve;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto nodes = read_nodes_csv("nodes.csv", text)) REPRIEVE_CHECK(!nodes->empty());
    for (const auto& trace : {read_jobs_csv("jobs.csv", text), read_swf("log.swf", text, true)}) {
        if (!trace) continue;
        Duration before{};
        for (const TraceJob& job : trace->jobs) {
            REPRIEVE_CHECK(job.submit >= before && job.min >= 1 && job.min <= job.pods);
            REPRIEVE_CHECK(job.queue < trace->queues.size() && job.selector < trace->selectors.size());
            before = job.submit;
        }
    }
    return 0;
}
