// The independent judge of a plan.
//
// It shares no code with those who decide: every sum, selector and device is worked out again from the facts, by code
// made to be obviously right rather than fast. A plan is judged in two states. NOW: everything that runs or still
// terminates, victims included, and what is placed now. LATER: what is left once victims and terminating pods are gone,
// and everything that is placed. What was wrong before the plan is not its fault: only what it touches is judged.
//
// Where the order of the plan's own steps decides (required affinity, topology spread), the plan gets the benefit of
// the doubt; capacity, devices, ports, disks, anti-affinity and limits must hold at the end, whatever the order.
#pragma once

#include <string>
#include <vector>

#include "model/config.h"
#include "model/plan.h"

namespace reprieve {

class Cluster;

struct Violation {
    std::string rule;    // a filter's name, or one of our own ("gang-minimum")
    std::string object;  // "ns/name" of the pod, gang or budget; or the array of the plan
    std::string what;    // a sentence for people
    friend auto operator<=>(const Violation&, const Violation&) = default;
};

// Empty: nothing is wrong. Sorted. REQUIRES: the cluster is refreshed and no transaction is open on its snapshot.
[[nodiscard]] std::vector<Violation> audit(const Cluster& cluster, const Plan& plan, const SchedulerConfig& config);

[[nodiscard]] std::string format_violation(const Violation& violation);

}  // namespace reprieve
