// Revisions of a Knative Service: which of them speaks for its replicas.
#pragma once

#include <string_view>

#include "model/objects.h"
#include "model/vocabulary.h"

namespace reprieve {

// False of a Revision that requests are not routed to, or not yet. Other workloads are not asked.
[[nodiscard]] inline bool gets_traffic(const Workload& workload, const Vocabulary& words) {
    const StringId key = words.find_string("serving.knative.dev/routingState");
    const std::string_view state = key ? words.text(workload.labels.get(key)) : std::string_view();
    return workload.kind != WorkloadKind::kRevision || state.empty() || state == "active";
}

}  // namespace reprieve
