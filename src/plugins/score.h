// Scores: which of the nodes where a pod fits is best. Upstream's plugins and weights, plus bin-packing for GPUs.
//
// Integers only. `local` is what one node says by itself; the others compare nodes with each other and are normalised
// to 0..100 over the nodes in question. The best node is the one with the highest sum, ties by name.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/config.h"
#include "plugins/filter.h"

namespace reprieve {

inline constexpr std::int64_t kTopScore = 100;

struct ScoreWeights {
    std::int64_t taint_toleration = 3;
    std::int64_t node_affinity = 2;
    std::int64_t resources_fit = 1;
    std::int64_t balanced = 1;
    std::int64_t spread = 2;
    std::int64_t inter_pod_affinity = 2;
    std::int64_t image_locality = 1;
    std::int64_t gpu_bin_packing = 10;
};

class Scores {
public:
    Scores(const PluginsConfig& config, const Snapshot& snapshot);

    // The weighted sum of what each node can say by itself.
    [[nodiscard]] std::int64_t local(const Candidate& candidate, const Occupancy& view, NodeId node) const;
    // Whether nodes must be compared with each other for this class (preferences, soft spread, preferred affinity).
    [[nodiscard]] bool compares(const Snapshot& snapshot, const PodClass& cls) const;
    // The best of `nodes` (not empty).
    [[nodiscard]] NodeId best(const Candidate& candidate,
                              const Occupancy& view,
                              const Occupancy& later,
                              std::span<const NodeId> nodes) const;

private:
    ScoreWeights weights_;
    bool soft_taints_ = false;  // some node has a PreferNoSchedule taint
};

// One per plugin: what they say before normalisation.
[[nodiscard]] std::int64_t score_least_allocated(const Candidate& candidate, const Occupancy& view, NodeId node);
[[nodiscard]] std::int64_t score_balanced_allocation(const Candidate& candidate, const Occupancy& view, NodeId node);
[[nodiscard]] std::int64_t score_image_locality(const Candidate& candidate, NodeId node);
[[nodiscard]] std::int64_t score_gpu_bin_packing(const Candidate& candidate, const Occupancy& view, NodeId node);
[[nodiscard]] std::int64_t score_untolerated_preferences(const Candidate& candidate, NodeId node);
[[nodiscard]] std::int64_t score_node_preference(const Candidate& candidate, NodeId node);
[[nodiscard]] std::int64_t score_pod_preference(const Candidate& candidate, const Occupancy& view, NodeId node);
void score_soft_spread(const Candidate& candidate,
                       const Occupancy& later,
                       std::span<const NodeId> nodes,
                       std::vector<std::int64_t>& out);

}  // namespace reprieve
