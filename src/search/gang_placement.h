// GangPlacement: places a set of pods together or not at all, in one set of nodes.
//
// Biggest first, each on its best node; where that leaves somebody without a place, other nodes are tried for the pods
// before it, within a budget of steps.
#pragma once

#include <span>
#include <vector>

#include "search/placement.h"

namespace reprieve {

class GangPlacement {
public:
    GangPlacement(Session& session, Placer& placer, View view, std::span<const NodeId> within, std::uint32_t note)
        : session_(session),
          placer_(placer),
          view_(view),
          within_(within),
          note_(note) {}

    // True: all are placed in the transaction. False: the transaction is as before.
    [[nodiscard]] bool place_all(std::span<const PodId> pods);

private:
    [[nodiscard]] bool descend(std::size_t at);
    [[nodiscard]] bool try_nodes(std::size_t at);
    [[nodiscard]] bool alike() const;
    [[nodiscard]] bool any_devices_do() const;

    Session& session_;
    Placer& placer_;
    View view_;
    std::span<const NodeId> within_;
    std::uint32_t note_;
    std::vector<PodId> order_;
    std::vector<NodeId> nodes_;
    int steps_ = 0;
    bool order_matters_ = false;
};

// The order of placing: who is harder to place comes first.
[[nodiscard]] bool bigger_pod(const Snapshot& snapshot, PodId a, PodId b);

}  // namespace reprieve
