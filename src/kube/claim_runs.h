// ClaimRuns: all claims of a pod, each written by a run of its own, side by side.
//
// They get their devices together or not at all: where one of them fails, or the binding after them, `take_back` takes
// the pod out of those that it was put into; a claim that is left to nobody has no devices then. Lives on the client's
// thread; what was started goes on without it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kube/claim_run.h"

namespace reprieve {

class ClaimRuns {
public:
    ClaimRuns(Outbox& outbox, ClaimIndex& index, ClaimRunOptions options, const Placement& placement, Time now);

    // `done` is called when all runs have ended; where one failed, with the first reason.
    void start(ClaimRun::Done done);
    // The pod will not be bound. `done` is called at the end of it.
    void take_back(const std::function<void()>& done) const;
    // The same of a pod that somebody else, perhaps a scheduler that died, put into its claims. First the pod is asked:
    // one that has its node keeps them.
    void release(std::function<void()> done) const;

private:
    using Runs = std::vector<std::shared_ptr<ClaimRun>>;
    using Step = void (ClaimRun::*)(std::function<void()> done);
    // Has all of them do it, and calls `done` after the last.
    static void each(const Runs& runs, Step step, const std::function<void()>& done);

    Outbox* outbox_;
    std::string pod_;  // "ns/name"
    std::string uid_;
    Runs runs_;
};

}  // namespace reprieve
