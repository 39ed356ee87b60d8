#include "plugins/proportion.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/wide.h"

namespace reprieve {

std::vector<std::int64_t> divide_by_weight(std::int64_t whole, std::span<const Claimant> claimants) {
    std::vector<std::int64_t> parts(claimants.size());
    std::vector<std::size_t> order(claimants.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::int64_t left = whole;
    std::int64_t weights = 0;
    for (const Claimant& claimant : claimants)
        weights += claimant.weight;
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(claimants[i].request, claimants[i].name); });
    for (const std::size_t i : order) {
        const auto& [weight, request, name] = claimants[i];
        const std::int64_t share = weights == 0 ? 0 : multiply_divide(weight, left, weights);
        parts[i] = std::min(request, share);
        left -= parts[i];
        weights -= weight;
    }
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(-claimants[i].weight, claimants[i].name); });
    for (const std::size_t i : order) {
        const std::int64_t more = std::min(left, claimants[i].request - parts[i]);
        parts[i] += more;
        left -= more;
    }
    return parts;
}

}  // namespace reprieve
