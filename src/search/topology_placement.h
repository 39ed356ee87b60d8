// Placing a gang in a topology domain: as few sub-domains as possible, sub-groups inside domains of their own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plugins/network_topology.h"
#include "search/placement.h"

namespace reprieve {

// Where a gang sits down: its domain, and the rules its sub-groups bring.
struct TopologySeat {
    SearchDomain domain;
    GangId gang;
    bool sub_rules = false;  // some sub-group has a topology rule of its own
    std::size_t stands_for =
        0;  // so many nodes, of which those of the domain were chosen (node_sieve.h); 0: themselves

    // Nothing but the set of nodes matters.
    [[nodiscard]] bool plain() const { return !sub_rules; }
};

[[nodiscard]] TopologySeat make_seat(const Snapshot& snapshot, GangId gang, SearchDomain domain);

// Places all pods in the seat or none.
[[nodiscard]] bool place_in_seat(Session& session,
                                 Placer& placer,
                                 std::span<const PodId> pods,
                                 View view,
                                 const TopologySeat& seat,
                                 std::uint32_t note);

}  // namespace reprieve
