// revoke: quotas that have held more than their runtime for too long give it back while others wait for it.
//
// A quota gives least important units of its own pods, budget breakers last, until it is within its runtime in every
// dimension its maximum lists; then, last taken first, whoever need not have gone stays (FixedWalk). Non-preemptible
// pods never go, and strict budgets bind those who go, together. Children give before their parents.
#pragma once

#include <span>
#include <vector>

#include "actions/desk.h"
#include "plugins/cost.h"
#include "search/units.h"

namespace reprieve {

class Revoke {
public:
    Revoke(Desk& desk, const ActionConfig& action)
        : desk_(desk),
          action_(action),
          order_(action, desk.session.config.plugins, desk.session.snapshot) {}

    // `waiting`: demands without a place that no room is left for.
    void run(std::span<const Demand> waiting);
    // What it did stands: each quota that gives back has a certificate. Nothing is claimed beyond what it costs.
    void certify() const;

    // Notes on quotas that went above their runtime, or came back; REQUIRES: the plan has been rolled back.
    void report(std::vector<QueueReport>& queues) const;

private:
    // The dimensions in which a quota is above its runtime.
    [[nodiscard]] std::vector<Dim> excess(QueueId quota) const;
    // Whether it is, in one of which these pods hold something.
    [[nodiscard]] bool hold_excess(QueueId quota, std::span<const PodId> pods) const;
    [[nodiscard]] bool is_due(QueueId quota) const;
    [[nodiscard]] bool is_wanted(QueueId quota, std::span<const Dim> dims, std::span<const Demand> waiting) const;
    [[nodiscard]] UnitList units_of(QueueId quota) const;
    void give_back(QueueId quota);

    Desk& desk_;
    const ActionConfig& action_;
    CostOrder order_;
    std::vector<Certificate> certificates_;
};

}  // namespace reprieve
