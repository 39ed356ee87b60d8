// servingPreempt: replicas of more important serving deployments get the room of less important ones.
//
// Runs once in a cycle. What it decides are numbers of replicas, marks on pods and forced deletions; which node a new
// replica is bound to is for the scheduler of its plane. All of it can be decided again from the same facts with the
// same result.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "actions/desk.h"
#include "model/config.h"

namespace reprieve {

class ServingPreempt {
public:
    ServingPreempt(Desk& desk, const ActionConfig& action) : desk_(desk), action_(action) {}
    ServingPreempt(const ServingPreempt&) = delete;
    ServingPreempt& operator=(const ServingPreempt&) = delete;
    ~ServingPreempt() { let_go(); }

    // `only` names the deployments to plan for; empty: all. `overdue` names replicas that were waited for in vain.
    void run(const std::vector<std::string>& only, const std::set<std::string>& overdue);

private:
    struct Held {
        NodeId node;
        Resources now;
        Resources later;
    };
    void hold(const Held& held, int sign);
    void let_go();

    Desk& desk_;
    const ActionConfig& action_;
    std::vector<Held> held_;  // room that those who come later in this cycle do not see
};

}  // namespace reprieve
