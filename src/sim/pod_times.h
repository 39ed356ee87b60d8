// How long things take in the life of a simulated pod. Annotations on the pod (or its template) say so, as Go
// durations:
//
//   reprieve.dev/sim-start      from bound to running; 1s if not written
//   reprieve.dev/sim-run        from running to finished; for ever if not written
//   reprieve.dev/sim-terminate  from deleted to gone; its grace period if not written. Longer than that is a pod that
//   is stuck
#pragma once

#include <optional>

#include "base/result.h"
#include "base/time.h"
#include "sim/json_path.h"

namespace reprieve {

struct PodTimes {
    Duration start{1'000'000};
    std::optional<Duration> run;
    std::optional<Duration> terminate;
    friend bool operator==(const PodTimes&, const PodTimes&) = default;
};

// `metadata` of a pod or of a pod template. The error names the annotation.
[[nodiscard]] Result<PodTimes> read_pod_times(const Json& metadata);

// Whether everything about times that an object of any kind says, in templates too, can be read.
[[nodiscard]] Result<void> check_pod_times(const Json& body);

}  // namespace reprieve
