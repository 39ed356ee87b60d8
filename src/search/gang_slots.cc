// The second way of choosing: node by node, always the cheapest next slot.
#include <algorithm>

#include "search/gang_victims.h"

namespace reprieve {

// The cheapest units on this node whose going makes one more member fit there. False: there are none.
bool GangVictims::next_slot(NodeId node, std::vector<std::uint32_t>& out) {
    const Snapshot& s = session_.snapshot;
    out.clear();
    const std::int64_t before = fit_.total();
    for (std::uint32_t u : order_) {
        if (taken_[u] || stays_put(u)) continue;
        const auto pods = list_.pods_of(list_.units[u]);
        if (std::ranges::none_of(pods, [&](PodId p) { return s.pods[p].node == node; })) continue;
        take_with_links(u);
        out.push_back(u);
        if (fit_.total() > before) break;
    }
    const bool found = fit_.total() > before;
    // Give back what the slot does not need, most important first.
    if (found) {
        for (std::uint32_t u : importance_) {
            const auto at = std::ranges::find(out, u);
            if (at == out.end() || list_.units[u].whole >= 0) continue;
            give(u);
            if (fit_.total() > before) {
                out.erase(at);
            } else {
                take(u);
            }
        }
    }
    return found;
}

// Node by node: always the cheapest next slot.
bool GangVictims::select_by_slots() {
    if (!fit_.counts()) return false;
    const Snapshot& s = session_.snapshot;
    const std::span<const NodeId> nodes =
        seat_.domain.nodes.empty() ? std::span<const NodeId>(s.nodes_by_name) : seat_.domain.nodes;
    struct Offer {
        bool known = false;
        bool possible = false;
        Cost cost;
        std::vector<std::uint32_t> units;
    };
    std::vector<Offer> offers(nodes.size());
    std::vector<std::vector<std::uint32_t>> units_on(s.nodes.size());
    for (std::uint32_t u : order_) {
        for (PodId p : list_.pods_of(list_.units[u])) {
            if (in_domain_[s.pods[p].node.index()] &&
                (units_on[s.pods[p].node.index()].empty() || units_on[s.pods[p].node.index()].back() != u))
                units_on[s.pods[p].node.index()].push_back(u);
        }
    }
    std::vector<std::uint32_t> saved_order;
    while (!fit_.passes()) {
        std::size_t best = nodes.size();
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            Offer& offer = offers[i];
            if (!offer.known) {
                offer.known = true;
                offer.possible = false;
                if (units_on[nodes[i].index()].empty()) continue;
                const std::vector<bool> before = taken_;
                saved_order.swap(order_);
                order_ = units_on[nodes[i].index()];
                offer.possible = next_slot(nodes[i], offer.units);
                order_.swap(saved_order);
                if (offer.possible) {
                    offer.units.clear();
                    for (std::uint32_t u = 0; u < taken_.size(); ++u) {
                        if (taken_[u] && !before[u]) offer.units.push_back(u);
                    }
                    offer.cost = cost_of(offer.units);
                }
                for (std::uint32_t u = 0; u < taken_.size(); ++u) {
                    if (taken_[u] && !before[u]) give(u);
                }
            }
            if (offer.possible && (best == nodes.size() || offer.cost < offers[best].cost)) best = i;
        }
        if (best == nodes.size()) return false;
        // Part of it may have gone since, with a gang that reaches further than its node: ask again.
        if (std::ranges::any_of(offers[best].units, [&](std::uint32_t u) { return taken_[u]; })) {
            offers[best].known = false;
            continue;
        }
        const std::vector<std::uint32_t> chosen = offers[best].units;
        for (std::uint32_t u : chosen) {
            if (!taken_[u]) take(u);
            for (PodId p : list_.pods_of(list_.units[u])) {
                for (std::size_t i = 0; i < nodes.size(); ++i) {
                    if (nodes[i] == s.pods[p].node) offers[i].known = false;
                }
            }
        }
    }
    return true;
}

}  // namespace reprieve
