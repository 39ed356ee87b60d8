// The filter NodeResourcesFit: every dimension asked for, and the number of pods.
#include <fmt/format.h>

#include "plugins/filter.h"
#include "state/claim_questions.h"
#include "state/cluster.h"

namespace reprieve {

Answer filter_node_resources_fit(const Candidate& c, const Occupancy& view, NodeId node) {
    const std::int64_t* free = view.free_row(node);
    Answer answer;
    for (const auto& [dim, value] : c.cls.requests) {
        if (free[dim.index()] >= value) continue;
        // Claims serve it here: a matter of the filter DynamicResources.
        if (c.cls.has_claims && served_by_claim(c.snapshot, node, dim)) continue;
        if (dim != kPods && value > c.snapshot.facts->node(node)->allocatable.get(dim)) {
            // More than the node has: no eviction helps, whatever else is short.
            return {Fit::kNever, FilterId::kNodeResourcesFit, dim.value()};
        }
        if (answer.fits()) answer = {Fit::kNotNow, FilterId::kNodeResourcesFit, dim.value()};
    }
    return answer;
}

std::string describe_resources_fit(std::uint32_t detail, const Candidate& candidate) {
    const Dim dim{detail};
    return dim == kPods ? "Too many pods" : fmt::format("Insufficient {}", candidate.snapshot.words->text(dim));
}

}  // namespace reprieve
