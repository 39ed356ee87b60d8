// ServingRoster: the serving deployments of a Cluster, each with its commits and pods by plane.
//
// Several spellings become one: a ServingDeployment with labelled workloads or with written commits, and a single
// Deployment that says how many replicas it wants. A view of facts, made when asked for and valid until they change;
// it does not depend on the order in which facts arrived.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/resources.h"
#include "state/cluster.h"

namespace reprieve {

// One serving deployment in one plane.
struct ServingBranch {
    std::int64_t score = 0;  // lower is better
    bool allowed = false;    // replicas may be added here
    bool rollout = false;    // its pods are being replaced by newer ones
    bool unclear = false;    // several workloads are its commit: which of them to scale is not known
    std::int64_t commit = 0;
    std::vector<PodId> pods;  // not finished; by name
};

struct ServingRow {
    std::string name;  // "ns/name"
    std::int32_t priority = 0;
    std::int64_t desired = 0;
    std::vector<Resources::Amount> need;            // of one replica, amounts > 0, `pods` among them
    std::map<std::string, ServingBranch> branches;  // by plane
};

struct ServingRoster {
    std::vector<ServingRow> rows;          // by (namespace, name)
    IdVector<NodeId, std::string> planes;  // of the nodes
    std::vector<std::string> warnings;     // what cannot be taken as written, a sentence each
};

// `plane_label` is the key on nodes that names their plane.
[[nodiscard]] ServingRoster read_servings(const Cluster& cluster, std::string_view plane_label);

}  // namespace reprieve
