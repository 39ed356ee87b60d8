// WhatIf: facts that are different for the length of a thought.
//
// Changes go into the cluster itself, so that every rule sees them; when the WhatIf goes, the facts are as before and
// the snapshot is refreshed. The digest of the cluster is not kept: whoever needs it asks first.
#pragma once

#include <vector>

#include "model/config.h"
#include "model/plan.h"
#include "state/cluster.h"

namespace reprieve {

class WhatIf {
public:
    explicit WhatIf(Cluster& cluster) : cluster_(cluster) {}
    ~WhatIf();
    WhatIf(const WhatIf&) = delete;
    WhatIf& operator=(const WhatIf&) = delete;

    // `before` is what the cluster says now; kind and name stay.
    void change(Object before, Object after);
    // REQUIRES: there is nothing of that kind and name.
    void add(Object object);
    void remove(Object object);

    // The snapshot that follows from the facts as they are now.
    [[nodiscard]] Snapshot& snapshot();
    // One cycle on it.
    [[nodiscard]] Plan plan(const SchedulerConfig& config);

private:
    struct Undo {
        Object object;
        bool put_back = false;  // else: take it away
    };

    void refresh();

    Cluster& cluster_;
    std::vector<Undo> undo_;
    bool stale_ = false;
};

}  // namespace reprieve
