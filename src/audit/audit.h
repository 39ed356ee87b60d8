// The independent judge of a plan.
//
// It shares no code with those who decide: every sum, selector, priority, minimum and path of queues is worked out
// again from the facts. What it takes from `state` as given: which gang and queue a pod belongs to, the traits that
// protect it, the tree of composite groups and of topology domains, how many disruptions a budget allows before the
// plan, and which devices a running pod holds. A mistake there is not found here.
//
// An audit costs as much as the cluster and the plan are large, but for a logarithm: whoever is asked about often
// (an owner's placements, a gang's victims, the pods of a topology domain) is looked up, never searched for.
//
// A plan is judged in two states. NOW: everything that runs or still
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
