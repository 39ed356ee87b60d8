// Bundles: the units of a domain in the order they are offered: what a gang can spare together, what it cannot as a
// whole.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/units.h"

namespace reprieve {

struct Bundle {
    bool safe = false;
    bool over_budget = false;
    std::int32_t priority = 0;
    std::int32_t queue_place = 0;  // reclaim: place in the order of victim queues
    std::int64_t roi_bucket = 0;
    std::int64_t start_us = 0;
    std::vector<std::uint32_t> units;
};

struct BundleRules {
    bool reclaim = false;
    std::int32_t roi_threshold_ppm = 50'000;
    std::vector<QueueId> queue_order;  // reclaim: most over its share first
};

// Sorted. `in_domain` tells which nodes count as local.
[[nodiscard]] std::vector<Bundle> make_bundles(const Snapshot& snapshot,
                                               const UnitList& list,
                                               std::span<const Resources::Amount> need,
                                               const BundleRules& rules,
                                               const std::vector<bool>& in_domain);

// floor(ROI / threshold) of what is gained here against what is destroyed everywhere, in exact arithmetic. SAFE: the
// largest.
[[nodiscard]] std::int64_t roi_bucket(std::span<const Resources::Amount> need,
                                      const Resources& local,
                                      const Resources& global,
                                      std::int32_t threshold_ppm);

}  // namespace reprieve
