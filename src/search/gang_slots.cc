// The second way of choosing: node by node, always the cheapest next slot.
#include <algorithm>

#include "search/gang_victims.h"

namespace reprieve {

// Takes the cheapest of these units of one node whose going makes one more member fit there; `out` says which, with
// what goes along. False: there are none, and nobody is taken.
bool GangVictims::next_slot(std::span<const std::uint32_t> units, std::vector<std::uint32_t>& out) {
    out.clear();
    const std::int64_t before = fit_.total();
    for (std::uint32_t u : units) {
        if (fit_.total() > before) break;
        if (!taken_[u] && !stays_put(u)) take_with_links(u, out);
    }
    if (fit_.total() <= before) {
        for (std::uint32_t u : out)
            give(u);
        return false;
    }
    // Give back what the slot does not need, most important first.
    std::ranges::sort(out, {}, [&](std::uint32_t u) { return rank_[u]; });
    std::erase_if(out, [&](std::uint32_t u) {
        const std::int32_t whole = list_.units[u].whole;
        if (whole >= 0 && taken_[static_cast<std::size_t>(whole)]) return false;  // goes with its gang
        give(u);
        if (fit_.total() > before) return true;
        take(u);
        return false;
    });
    return true;
}

// Node by node: always the cheapest next slot. A node's offer is worked out once, and again when a unit that it has a
// pod of was taken for another node.
bool GangVictims::select_by_slots() {
    if (!fit_.counts()) return false;
    const Snapshot& s = session_.snapshot;
    const std::span<const NodeId> nodes =
        seat_.domain.nodes.empty() ? std::span<const NodeId>(s.nodes_by_name) : seat_.domain.nodes;
    struct Offer {
        bool known = false;
        bool possible = false;
        Cost cost;
        std::vector<std::uint32_t> units;    // that make the next slot
        std::vector<std::uint32_t> on_node;  // in the order of their bundles
    };
    std::vector<Offer> offers(nodes.size());
    std::vector<std::int32_t> place_of(s.nodes.size(), -1);
    for (std::size_t i = 0; i < nodes.size(); ++i)
        place_of[nodes[i].index()] = static_cast<std::int32_t>(i);
    const auto offer_at = [&](PodId pod) -> Offer* {
        const NodeId node = s.pods[pod].node;  // none: it is gone, and its pods not yet
        const std::int32_t place = node ? place_of[node.index()] : -1;
        return place < 0 ? nullptr : &offers[static_cast<std::size_t>(place)];
    };
    for (std::uint32_t u : order_) {
        for (PodId p : list_.pods_of(list_.units[u])) {
            Offer* offer = offer_at(p);
            if (offer != nullptr && (offer->on_node.empty() || offer->on_node.back() != u)) offer->on_node.push_back(u);
        }
    }
    while (!fit_.passes()) {
        Offer* best = nullptr;
        for (Offer& offer : offers) {
            if (!offer.known) {
                offer.known = true;
                offer.possible = next_slot(offer.on_node, offer.units);
                if (offer.possible) {
                    offer.cost = problem_->least(offer.units);
                    for (std::uint32_t u : offer.units)
                        give(u);
                }
            }
            if (offer.possible && (best == nullptr || offer.cost < best->cost)) best = &offer;
        }
        if (best == nullptr) return false;
        // Part of it may have gone since, with a gang that reaches further than its node: ask again.
        best->known = false;
        if (std::ranges::any_of(best->units, [&](std::uint32_t u) { return taken_[u]; })) continue;
        const std::vector<std::uint32_t> chosen = best->units;
        for (std::uint32_t u : chosen) {
            take(u);
            for (PodId p : list_.pods_of(list_.units[u])) {
                if (Offer* offer = offer_at(p)) offer->known = false;
            }
        }
    }
    return true;
}

}  // namespace reprieve
