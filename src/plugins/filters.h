// Filters: the filters that are switched on, asked in order.
#pragma once

#include "model/config.h"
#include "plugins/filter.h"
#include "plugins/pod_topology_spread.h"

namespace reprieve {

class Filters {
public:
    explicit Filters(const PluginsConfig& config);

    // By facts only: fits, or never. Does not change while a snapshot stands.
    [[nodiscard]] Answer check_facts(const Candidate& candidate, NodeId node) const;
    // By what is there in this view. A `never` of a later filter wins over a `not now` of an earlier one.
    // `later` is asked by spread constraints, which never count terminating pods.
    [[nodiscard]] Answer check_view(const Candidate& candidate,
                                    const Occupancy& view,
                                    const Occupancy& later,
                                    NodeId node) const;

    [[nodiscard]] bool on(FilterId id) const { return (on_ & (1U << static_cast<unsigned>(id))) != 0; }
    // Whether only amounts of resources (and devices, ports) on the node itself decide for this class.
    [[nodiscard]] bool node_local(const Snapshot& snapshot, const PodClass& cls) const;
    // Whether amounts of resources alone decide.
    [[nodiscard]] bool amounts_only(const Snapshot& snapshot, const PodClass& cls) const;

private:
    unsigned on_ = 0;
    mutable SpreadBook spread_;  // only what follows from the view anyway
};

}  // namespace reprieve
