// Alternatives: the same demands served with another aim, side by side.
//
// Each is a plan of the one engine, made with another order of costs, with budgets that bind, or with slow leavers out
// of reach. What they cost is measured the same way for all of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/config.h"
#include "model/plan.h"
#include "state/cluster.h"

namespace reprieve {

struct Alternative {
    std::string name;  // "cheapest", "pdbClean", "fewestJobs", "leastWorkLost", "soonestFree"
    Plan plan;
    std::int64_t pods = 0;  // evicted
    std::int64_t jobs_broken = 0;
    std::int64_t pdb_violations = 0;
    std::int64_t highest_priority = 0;  // among the victims
    std::int64_t lost_work = 0;         // resource-seconds
    std::int64_t seconds_until_free = 0;
    std::int64_t unplaced = 0;
};

struct Alternatives {
    std::string lost_resource;       // what lost work is counted in
    std::vector<Alternative> plans;  // the first is the plan itself
};

// `plan` is what one cycle on the cluster says. Whoever cannot be had with the configuration (a rule it needs is
// switched off) is left out.
[[nodiscard]] Alternatives find_alternatives(Cluster& cluster, const SchedulerConfig& config, const Plan& plan);

// The plan as it is printed, and the alternatives beside it.
[[nodiscard]] std::string alternatives_to_json(const Alternatives& alternatives);
[[nodiscard]] std::string alternatives_to_yaml(const Alternatives& alternatives);

}  // namespace reprieve
