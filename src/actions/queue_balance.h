// QueueBalance: the action queueBalance over the whole cluster: every queue is brought within what it was granted, then
// within what it deserves, and what is free by then is granted to those who lack it.
//
// What is granted follows from the facts alone (Grants); only who goes depends on what the plan did before.
#pragma once

#include <span>
#include <vector>

#include "actions/desk.h"
#include "plugins/grants.h"

namespace reprieve {

class QueueBalance {
public:
    // REQUIRES: desk and action outlive it; the queues are balanced.
    QueueBalance(Desk& desk, const ActionConfig& action)
        : desk_(desk),
          action_(action),
          grants_(*desk.session.limits.grants()) {}

    // Stops pods of queues that hold too much.
    void run();

    // Adds the queues' status to what a plan that evicts these pods says of them. Parents show the sum of their
    // children.
    void report(std::span<const PodId> evicted, std::vector<QueueReport>& queues) const;

private:
    Desk& desk_;
    const ActionConfig& action_;
    const Grants& grants_;
};

}  // namespace reprieve
