#include "plugins/score.h"

#include <algorithm>

#include "base/check.h"
#include "state/cluster.h"

namespace reprieve {
namespace {

// Scales to 0..100 by the largest; `reverse` turns "more is worse" round.
void normalise(std::vector<std::int64_t>& scores, bool reverse) {
    const std::int64_t most = *std::ranges::max_element(scores);
    for (std::int64_t& s : scores) {
        if (most > 0)
            s = s * kTopScore / most;
        else
            s = 0;
        if (reverse) s = kTopScore - s;
    }
}

void normalise_range(std::vector<std::int64_t>& scores) {
    const auto [least, most] = std::ranges::minmax_element(scores);
    const std::int64_t low = *least;
    const std::int64_t span = *most - low;
    for (std::int64_t& s : scores)
        s = span > 0 ? (s - low) * kTopScore / span : 0;
}

}  // namespace

Scores::Scores(const PluginsConfig& config, const Snapshot& snapshot) {
    soft_taints_ = std::ranges::any_of(snapshot.nodes_by_name, [&](NodeId n) {
        return std::ranges::any_of(snapshot.facts->node(n)->taints,
                                   [](const Taint& t) { return t.effect == TaintEffect::kPreferNoSchedule; });
    });
    const auto set = [&](const char* name, std::int64_t& weight) {
        if (const auto it = config.score_weights.find(name); it != config.score_weights.end()) weight = it->second;
    };
    set("TaintToleration", weights_.taint_toleration);
    set("NodeAffinity", weights_.node_affinity);
    set("NodeResourcesFit", weights_.resources_fit);
    set("NodeResourcesBalancedAllocation", weights_.balanced);
    set("PodTopologySpread", weights_.spread);
    set("InterPodAffinity", weights_.inter_pod_affinity);
    set("ImageLocality", weights_.image_locality);
    set("GpuBinPacking", weights_.gpu_bin_packing);
}

std::int64_t Scores::local(const Candidate& c, const Occupancy& view, NodeId node) const {
    std::int64_t sum = weights_.resources_fit * score_least_allocated(c, view, node) +
                       weights_.balanced * score_balanced_allocation(c, view, node);
    if (!c.spec.images.empty() && weights_.image_locality != 0)
        sum += weights_.image_locality * score_image_locality(c, node);
    if (c.cls.has_devices) sum += weights_.gpu_bin_packing * score_gpu_bin_packing(c, view, node);
    return sum;
}

bool Scores::compares(const Snapshot& s, const PodClass& cls) const {
    const PodSpec& spec = s.words->spec(cls.spec);
    if (!spec.preferred_nodes.empty() || !cls.preferred.empty()) return true;
    if (std::ranges::any_of(cls.spread, [](const ClassSpread& c) { return !c.hard; })) return true;
    if (std::ranges::any_of(cls.matched,
                            [&](TermId t) { return s.terms[t].key.valid() && (s.now.pulls(t) || s.later.pulls(t)); }))
        return true;
    return soft_taints_;
}

NodeId Scores::best(const Candidate& c,
                    const Occupancy& view,
                    const Occupancy& later,
                    std::span<const NodeId> nodes) const {
    REPRIEVE_CHECK(!nodes.empty());
    std::vector<std::int64_t> total(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i)
        total[i] = local(c, view, nodes[i]);
    if (compares(c.snapshot, c.cls)) {
        std::vector<std::int64_t> part(nodes.size());
        const auto add = [&](std::int64_t weight) {
            for (std::size_t i = 0; i < nodes.size(); ++i)
                total[i] += weight * part[i];
        };
        for (std::size_t i = 0; i < nodes.size(); ++i)
            part[i] = score_untolerated_preferences(c, nodes[i]);
        normalise(part, true);
        add(weights_.taint_toleration);
        if (!c.spec.preferred_nodes.empty()) {
            for (std::size_t i = 0; i < nodes.size(); ++i)
                part[i] = score_node_preference(c, nodes[i]);
            normalise(part, false);
            add(weights_.node_affinity);
        }
        for (std::size_t i = 0; i < nodes.size(); ++i)
            part[i] = score_pod_preference(c, view, nodes[i]);
        normalise_range(part);
        add(weights_.inter_pod_affinity);
        if (std::ranges::any_of(c.cls.spread, [](const ClassSpread& s) { return !s.hard; })) {
            score_soft_spread(c, later, nodes, part);
            add(weights_.spread);
        }
    }
    std::size_t best = 0;
    for (std::size_t i = 1; i < nodes.size(); ++i) {
        if (total[i] > total[best] ||
            (total[i] == total[best] && c.snapshot.nodes[nodes[i]].rank < c.snapshot.nodes[nodes[best]].rank))
            best = i;
    }
    return nodes[best];
}

}  // namespace reprieve
