// What `run --ui` serves: health and metrics for machines, the window for people, at one address.
#pragma once

#include <memory>

#include "app/run_ports.h"

namespace reprieve {

[[nodiscard]] Result<std::unique_ptr<RunUi>> open_window(const UiTarget& target,
                                                         ClusterLink& link,
                                                         Cluster& cluster,
                                                         const SchedulerConfig& config);

}  // namespace reprieve
