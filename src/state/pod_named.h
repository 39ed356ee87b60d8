// The pod of a full name.
#pragma once

#include <string_view>

#include "state/cluster.h"

namespace reprieve {

// `full` is "ns/name"; none if there is no such pod.
[[nodiscard]] PodId pod_named(const Cluster& cluster, std::string_view full);

}  // namespace reprieve
