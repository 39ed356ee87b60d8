// A real cluster, as something to run the loop on: Source, Sink and Lease over two clients, one that reads and one that
// writes, so that neither waits for the other.
#pragma once

#include <memory>

#include "app/run_ports.h"
#include "base/result.h"
#include "kube/event_feed.h"

namespace reprieve {

[[nodiscard]] Result<std::unique_ptr<ClusterLink>> open_kube(const KubeTarget& target, Vocabulary& words);

// Events of the same cluster, over a client of their own.
class ClusterEvents {
public:
    virtual ~ClusterEvents() = default;
    [[nodiscard]] virtual EventFeed& feed() = 0;
};
[[nodiscard]] Result<std::unique_ptr<ClusterEvents>> open_events(const KubeTarget& target);

}  // namespace reprieve
