// Where else a running pod would find room as things are.
#pragma once

#include <string>
#include <vector>

#include "model/config.h"
#include "state/cluster.h"

namespace reprieve {

struct OtherNode {
    NodeId node;
    std::string domain;  // the smallest one around it; empty: there is none
};

// At most `most` nodes, not its own: one for each domain, other domains than its own first, then by name.
[[nodiscard]] std::vector<OtherNode> other_nodes(Cluster& cluster,
                                                 const SchedulerConfig& config,
                                                 PodId pod,
                                                 std::size_t most);

}  // namespace reprieve
