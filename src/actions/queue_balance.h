// QueueBalance: the action queueBalance over the whole cluster: every queue is brought within what it was granted, then
// within what it deserves, and what is free by then is granted to those who lack it.
//
// What is granted follows from the facts alone (Grants); only who goes depends on what the plan did before.
//
// All queues that hold too much are one VictimProblem: their pods in open splits, strict budgets, and what queues are
// guaranteed. Who goes is no matter of cost: every queue walks over it in the order that QueueTrim tells.
#pragma once

#include <span>
#include <vector>

#include "actions/desk.h"
#include "actions/queue_trim.h"
#include "plugins/cost.h"
#include "plugins/grants.h"

namespace reprieve {

class QueueBalance {
public:
    // REQUIRES: desk and action outlive it; the queues are balanced.
    QueueBalance(Desk& desk, const ActionConfig& action)
        : desk_(desk),
          action_(action),
          order_(action, desk.session.config.plugins, desk.session.snapshot),
          grants_(*desk.session.limits.grants()) {}

    // Stops pods of queues that hold too much. Each queue that gives has a certificate of what that costs.
    void run();

    // Adds the queues' status to what a plan that evicts these pods says of them. Parents show the sum of their
    // children.
    void report(std::span<const PodId> evicted, std::vector<QueueReport>& queues) const;

private:
    using Members = IdVector<QueueId, std::vector<PodId>>;
    // A queue that holds too much.
    struct Heavy {
        QueueId queue;
        Resources granted;
        Resources deserved;
    };

    [[nodiscard]] std::vector<Heavy> find_heavy() const;
    [[nodiscard]] UnitList units_of(std::span<const Heavy> queues, const Members& members) const;
    [[nodiscard]] std::vector<GiveRule> guarantees(const UnitList& list, const Members& members) const;
    void trim(std::span<const Heavy> queues, const Members& members, QueueTrim::Round& round) const;
    void carry_out(const QueueTrim::Round& round, const Pricing& pricing);

    Desk& desk_;
    const ActionConfig& action_;
    CostOrder order_;
    const Grants& grants_;
};

}  // namespace reprieve
