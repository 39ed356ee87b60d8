// What victims on one node cost at least, before anybody looks for them.
#include <algorithm>
#include <functional>

#include "search/node_victims.h"

namespace reprieve {

// Somebody goes, of the lowest priority there is.
Cost NodeVictims::least_cost(NodeId node) const {
    const Snapshot& s = session_.snapshot;
    std::int32_t lowest = INT32_MAX;
    for (PodId pod : s.node_pods[node])
        lowest = std::min(lowest, s.pods[pod].unit_priority);
    if (looks_elsewhere() || !relief_complete_) lowest = INT32_MIN;
    for (PodId pod : relief_)
        lowest = std::min(lowest, s.pods[pod].unit_priority);
    Toll least;
    least.add_pod(lowest, INT64_MAX);
    least.units = 1;
    return rules_.order->cost(least);
}

Cost NodeVictims::least_anywhere() const {
    Toll least;
    least.add_pod(INT32_MIN, INT64_MAX);
    least.units = 1;
    return rules_.order->cost(least);
}

Cost NodeVictims::quick_bound(NodeId node) const {
    const Snapshot& s = session_.snapshot;
    const Shortages missing = few_amounts_ ? shortages(node) : Shortages();
    std::vector<std::int32_t> priorities;
    std::vector<std::int64_t> sizes;
    std::int64_t youngest = INT64_MIN;
    for (PodId pod : s.node_pods[node]) {
        if (!finder_.takeable(pod, rules_.attack)) continue;
        priorities.push_back(s.pods[pod].unit_priority);
        youngest = std::max(youngest, s.started(pod).us);
    }
    std::int64_t fewest = 0;
    for (const Shortage& what : missing) {
        if (what.rule >= 0) continue;
        sizes.clear();
        for (PodId pod : s.node_pods[node]) {
            if (finder_.takeable(pod, rules_.attack)) sizes.push_back(room_of(s, pod, what.dim));
        }
        std::ranges::sort(sizes, std::greater());
        std::int64_t left = what.missing;
        std::int64_t pods = 0;
        for (std::size_t i = 0; i < sizes.size() && left > 0; ++i, ++pods)
            left -= sizes[i];
        fewest = std::max(fewest, pods);
    }
    // Where the node has room, somebody elsewhere is in the way, and nothing is known of who that is. So it is where
    // the highest priority is no term before the start: a victim elsewhere, in the way or under the same limit, may
    // then stand for it.
    const auto terms = rules_.order->terms();
    const auto start = std::ranges::find(terms, CostTerm::kLatestStart);
    const bool start_known =
        (!looks_elsewhere() && relief_.empty()) || std::find(terms.begin(), start, CostTerm::kMaxPriority) != start;
    if (fewest == 0 && asker_.alone) return least_anywhere();
    if (fewest == 0 || (limit_binds_ && !relief_complete_)) return least_cost(node);
    std::ranges::sort(priorities);
    Toll toll;
    for (std::size_t i = 0; i < static_cast<std::size_t>(fewest) && i < priorities.size(); ++i)
        toll.add_pod(priorities[i], start_known ? youngest : INT64_MAX);
    toll.units = 1;
    return rules_.order->cost(toll);
}

Cost NodeVictims::lower_bound(NodeId node, const Victims& victims, ShortageRange* range) const {
    if (victims.proof) return victims.cost;
    const Snapshot& s = session_.snapshot;
    // Others than those in the list may go.
    if (victims.searched || looks_elsewhere() || (limit_binds_ && (!read_only() || !relief_complete_)) ||
        leaves_out(node, victims.list))
        return least_cost(node);
    // At least one unit goes, and per shortage at least as many pods as the largest ones need to cover it.
    std::int64_t fewest = 1;
    if (read_only()) {
        std::vector<std::int64_t> sizes;
        const Shortages needed = shortages(node);
        for (std::size_t i = 0; i < needed.size(); ++i) {
            const Shortage& what = needed[i];
            std::int64_t covered = 0;
            sizes.clear();
            for (PodId pod : victims.list.pods) {
                if (what.rule >= 0 || s.pods[pod].node == node) sizes.push_back(s.spec_of(pod).requests.get(what.dim));
            }
            std::ranges::sort(sizes, std::greater());
            std::int64_t pods = 0;
            for (std::int64_t size : sizes) {
                if (what.missing <= covered) break;
                if (range != nullptr) range->keep_above(i, covered);
                covered += size;
                ++pods;
            }
            if (range != nullptr && what.missing <= covered) range->keep_up_to(i, covered);
            fewest = std::max(fewest, pods);
        }
    }
    std::vector<std::int32_t> priorities;
    for (const Unit& u : victims.list.units) {
        for (std::uint32_t i = 0; i < u.count; ++i)
            priorities.push_back(u.priority);
    }
    std::ranges::sort(priorities);
    Toll toll;
    for (std::int64_t i = 0; i < fewest && static_cast<std::size_t>(i) < priorities.size(); ++i)
        toll.add_pod(priorities[static_cast<std::size_t>(i)], INT64_MAX);
    toll.units = 1;
    return rules_.order->cost(toll);
}

}  // namespace reprieve
