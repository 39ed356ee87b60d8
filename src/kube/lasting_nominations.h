// LastingNominations: places that wait for pods which leave anyway are written down once they have lasted.
//
// Such a nomination costs nobody anything, and every cycle finds it again: on a full cluster where pods come and go
// each pod that waits would be nominated, perhaps several times, in the second before it is bound. So the write waits
// for a moment, and whoever is bound, or waits no longer, by then has cost one call and not two. Nominations that
// evictions were paid for are no part of this: they are on record before anybody is evicted. Lives on the client's
// thread.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "kube/outbox.h"
#include "model/plan.h"

namespace reprieve {

class LastingNominations {
public:
    using PlanPtr = std::shared_ptr<const Plan>;
    // Nominates the pod of a placement, which is a part of the plan.
    using Write = std::function<void(const PlanPtr& plan, const Placement& placement)>;

    LastingNominations(Outbox& outbox, Duration lasts, Write write)
        : outbox_(&outbox),
          lasts_(lasts),
          write_(std::move(write)) {}

    // What follows is said by this plan: what earlier plans said and this one does not is over.
    void begin(const PlanPtr& plan);
    void offer(const Placement& placement);
    void end();

private:
    struct Entry {
        PlanPtr plan;
        const Placement* placement = nullptr;
        std::chrono::steady_clock::time_point since;  // when the pod first waited so
    };
    void look_later();
    void look();

    Outbox* outbox_;
    Duration lasts_;
    Write write_;
    PlanPtr plan_;
    std::map<std::string, Entry> waiting_;  // by pod
    std::map<std::string, Entry> offered_;
    bool looking_ = false;  // somebody will look
};

}  // namespace reprieve
