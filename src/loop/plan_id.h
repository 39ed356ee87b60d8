// The id of a plan: equal inputs, equal id. It covers the facts, the configuration, the clock and the program's
// version.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "state/cluster.h"

namespace reprieve {

// Digest of what the snapshot, the configuration and the version say: equal inputs, equal id.
[[nodiscard]] std::string plan_id(const Cluster& cluster,
                                  const std::string& config_text,
                                  const std::vector<std::string>& only,
                                  Time now);

}  // namespace reprieve
