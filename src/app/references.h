// What objects name and nobody has: worth a warning, because the plan goes on without it.
#pragma once

#include <string>
#include <vector>

#include "state/cluster.h"

namespace reprieve {

// A sentence each, sorted; counted where it holds more than once. REQUIRES: the cluster is refreshed.
[[nodiscard]] std::vector<std::string> broken_references(const Cluster& cluster);

}  // namespace reprieve
