// The filter InterPodAffinity: the pod's own required affinity and anti-affinity, and the anti-affinity of pods already
// there.
#include <algorithm>

#include "plugins/filter.h"
#include "state/promised_counts.h"

namespace reprieve {
namespace {

enum AffinityTrouble : std::uint16_t { kAffinity, kOwnAnti, kOthersAnti };

// Every term needs a matching pod in the node's domain. If none exists anywhere, a pod that matches its own terms may
// be the first. `without`: nominated pods do not count.
bool affinity_holds(const Candidate& c, const Occupancy& view, const PromisedCounts* without, NodeId node) {
    const TopologyIndex& topology = c.snapshot.topology;
    bool nobody = true;
    bool all = true;
    for (TermId term : c.cls.affinity) {
        const std::int32_t domain = topology.domain(c.snapshot.terms[term].key, node.index());
        if (domain == TopologyIndex::kNoDomain) return false;
        const std::int64_t gone = without == nullptr ? 0 : without->nominated_total(term);
        const std::int32_t gone_here = without == nullptr ? 0 : without->nominated(term, domain);
        if (view.matching_total(term) > gone) nobody = false;
        if (view.matching(term, domain) <= gone_here) all = false;
    }
    return all || (nobody && c.cls.affinity_to_itself);
}

}  // namespace

Answer filter_pod_affinity(const Candidate& c, const Occupancy& view, NodeId node) {
    if (c.cls.affinity.empty() || affinity_holds(c, view, nullptr, node)) return {};
    return {Fit::kNever, FilterId::kInterPodAffinity, kAffinity};
}

bool affinity_without_nominated(const Candidate& c,
                                const Occupancy& later,
                                const PromisedCounts& promised,
                                NodeId node) {
    return c.cls.affinity.empty() || affinity_holds(c, later, &promised, node);
}

Answer filter_pod_anti_affinity(const Candidate& c, const Occupancy& view, NodeId node) {
    const TopologyIndex& topology = c.snapshot.topology;
    for (TermId term : c.cls.anti_affinity) {
        const std::int32_t domain = topology.domain(c.snapshot.terms[term].key, node.index());
        if (domain != TopologyIndex::kNoDomain && view.matching(term, domain) > 0)
            return {Fit::kNotNow, FilterId::kInterPodAffinity, kOwnAnti};
    }
    for (TermId term : c.cls.matched) {
        const TopologyKeyId key = c.snapshot.terms[term].key;
        if (!key || view.holders_total(term) == 0) continue;
        const std::int32_t domain = topology.domain(key, node.index());
        if (domain != TopologyIndex::kNoDomain && view.holders(term, domain) > 0)
            return {Fit::kNotNow, FilterId::kInterPodAffinity, kOthersAnti};
    }
    return {};
}

}  // namespace reprieve
