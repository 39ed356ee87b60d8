// A real cluster, as something to run the loop on: Source, Sink and Lease over two clients, one that reads and one that
// writes, so that neither waits for the other.
#pragma once

#include <memory>

#include "app/run_ports.h"
#include "base/result.h"

namespace reprieve {

[[nodiscard]] Result<std::unique_ptr<ClusterLink>> open_kube(const KubeTarget& target, Vocabulary& words);

}  // namespace reprieve
