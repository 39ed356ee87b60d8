// QueueBalance: the action queueBalance over the whole cluster: every queue is brought within what it was granted, then
// within what it deserves, and what is free by then is granted to those who lack it.
//
// What is granted follows from the facts alone (Grants); only who goes depends on what the plan did before.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actions/desk.h"
#include "plugins/grants.h"

namespace reprieve {

class QueueBalance {
public:
    // REQUIRES: desk and action outlive it; no op stands on the snapshot.
    QueueBalance(Desk& desk, const ActionConfig& action) : desk_(desk), action_(action), grants_(desk.snapshot()) {}

    // Stops pods of queues that hold too much.
    void run();

    // Whoever is stopped must not come back through another door: what is granted bounds what is placed, too.
    // The members that must come, and of the others as many as the queue's grant has room for.
    [[nodiscard]] Demand granted_part(Demand demand) const;
    // Pods have been given back: whether their queues are still within their grants.
    [[nodiscard]] bool grants_hold(std::span<const PodId> back) const;
    // A demand has been placed: why it may not stay. Empty: its queue is within its grant.
    [[nodiscard]] std::string excess(const Demand& demand) const;

    // Adds the queues' status to what a plan that evicts these pods says of them. Parents show the sum of their
    // children.
    void report(std::span<const PodId> evicted, std::vector<QueueReport>& queues) const;

private:
    // The first resource of which the queue would hold more than its grant with these amounts on top.
    [[nodiscard]] std::optional<Dim> exceeded(QueueId queue, const Resources& asked, const Resources& on_top) const;

    Desk& desk_;
    const ActionConfig& action_;
    Grants grants_;
};

}  // namespace reprieve
