// Subject: the pod or gang that somebody asks about.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/plan.h"
#include "state/cluster.h"
#include "state/pod_named.h"

namespace reprieve {

// For reading serving deployments where it does not matter which node belongs to which plane.
inline constexpr const char* kAnyPlaneLabel = "reprieve.dev/plane";

struct Subject {
    std::string name;  // "ns/name"
    bool gang = false;
    std::vector<std::string> pods;  // of a gang its members, sorted; of a pod itself
};

// `name` is "name" or "ns/name"; of a pod and a gang of one name the pod is meant, unless `gang`. Without a cluster
// only what the plan speaks of is known. The error says which names are near, or which of several must be written out.
[[nodiscard]] Result<Subject> find_subject(const Plan& plan,
                                           const Cluster* cluster,
                                           const std::string& name,
                                           bool gang);

}  // namespace reprieve
