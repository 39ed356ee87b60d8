// GiveRule: what the victims of one plan must give together, whoever they are and in whatever order they go.
#pragma once

#include <cstdint>
#include <vector>

#include "model/resources.h"
#include "state/ids.h"
#include "state/snapshot.h"

namespace reprieve {

struct GiveRule {
    QueueId queue;  // pods in it and below count
    Dim dim;
    bool at_least = false;  // else at most
    std::int64_t amount = 0;
    std::vector<QueueId> givers;  // it holds only where a pod of one of these goes; empty: always
};

// By the names of queues and resources: what a search looks at first does not depend on what was heard of first.
void sort_by_names(const Snapshot& snapshot, std::vector<GiveRule>& rules);

}  // namespace reprieve
