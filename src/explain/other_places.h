// Where else a running pod or gang would find room as things are.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/config.h"
#include "state/cluster.h"

namespace reprieve {

struct OtherPlace {
    std::vector<NodeId> nodes;  // for each of the pods
    std::string domain;         // the smallest one around them; empty: there is none
};

// At most `most` places without the nodes that they are on: one in each domain, other domains than their own first,
// then by name. Where there are no domains, each node is a place for one pod, and all of them together are one for a
// gang.
[[nodiscard]] std::vector<OtherPlace> other_places(Cluster& cluster,
                                                   const SchedulerConfig& config,
                                                   std::span<const PodId> pods,
                                                   std::size_t most);

}  // namespace reprieve
