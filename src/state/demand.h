// Demand: pods to be placed all-or-nothing for one owner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "state/snapshot.h"

namespace reprieve {

struct Demand {
    GangId gang;                   // none: a single pod
    std::vector<GangId> partners;  // gangs that start only together with it; their pods are in the list, too
    std::vector<PodId> pods;       // in pod order: priority descending, creation, namespace/name
    std::int32_t priority = 0;
    QueueId queue;
    Time created;            // of its first pod
    bool nominated = false;  // some member has a nomination from an earlier plan
    bool never_preempts = false;
    std::string missing_partner = {};  // "ns/name" of a gang that it starts only together with, and nobody has seen

    [[nodiscard]] PodId first() const { return pods.front(); }
};

}  // namespace reprieve
