// The names after `--for`: each must be that of something that waits.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "state/cluster.h"

namespace reprieve {

// The error says what is known of the first name for which nothing waits, and which names do. REQUIRES: the cluster is
// refreshed.
[[nodiscard]] Result<void> check_asked_names(const Cluster& cluster, const std::vector<std::string>& names);

}  // namespace reprieve
