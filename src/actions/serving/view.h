// View: the world of serving as one cluster shows it in the middle of a cycle.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "actions/serving/world.h"
#include "model/config.h"
#include "search/session.h"
#include "state/serving.h"

namespace reprieve::serving {

struct View {
    World world;
    std::vector<Dim> dims;      // of all amounts
    std::vector<NodeId> nodes;  // parallel to the world's
    std::vector<PodId> pods;    // parallel to the world's replicas
};

// `only` names the deployments that may take room; empty: all may. `overdue` names replicas ("ns/name") that were
// waited for in vain.
[[nodiscard]] View look_at(const Session& session,
                           const ServingRoster& roster,
                           const ActionConfig& action,
                           const std::vector<std::string>& only,
                           const std::set<std::string>& overdue);

}  // namespace reprieve::serving
