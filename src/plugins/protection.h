// Protection: who is never a victim, one named rule each.
#pragma once

#include <cstdint>
#include <string>

#include "model/config.h"
#include "state/snapshot.h"

namespace reprieve {

enum class Protection : std::uint8_t {
    kNone,
    kCriticalClass,
    kKubeSystem,
    kMirror,
    kDaemonSet,
    kNotRunning,
    kForeign,
    kMarked,
    kMinRuntime,
    kToleration,
    kServing,
    kNotOffered
};

class Protections {
public:
    explicit Protections(const SchedulerConfig& config);

    // Why this pod may not be taken by an attacker of that priority; kNone if it may.
    [[nodiscard]] Protection of(const Snapshot& snapshot, PodId pod, std::int32_t attacker_priority) const;
    // The same of a running replica and a serving deployment that waits for room.
    [[nodiscard]] Protection of_replica(const Snapshot& snapshot, PodId pod, std::int32_t attacker_priority) const;
    // The lowest priority for which a running replica of a serving deployment may be stopped: INT64_MIN: any,
    // INT64_MAX: none.
    [[nodiscard]] std::int64_t replica_taken_from(const Snapshot& snapshot, PodId pod) const;

private:
    // By the rules that hold whoever attacks.
    [[nodiscard]] Protection from_everybody(const Snapshot& snapshot, PodId pod) const;

    bool on_ = true;
    bool kube_system_ = true;
    bool min_runtime_ = true;
    bool unmarked_are_fixed_ = false;
};

// A sentence about the pod: "belongs to a DaemonSet and would come straight back".
[[nodiscard]] const char* to_text(Protection protection);

// The same of one pod, with what is known about it alone: "its termination is overdue".
[[nodiscard]] std::string why_protected(const Snapshot& snapshot, PodId pod, Protection protection);

}  // namespace reprieve
