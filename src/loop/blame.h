// Blame: whose demand it is that a plan breaks a rule for.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "audit/audit.h"
#include "model/plan.h"
#include "state/cluster.h"

namespace reprieve {

// The demands that violations speak of, each with the first of them: by a pod that is placed or evicted for a demand,
// by the demand's own name, by a gang that loses members to it, or by a disruption budget over its victims. Violations
// that name something else blame nobody.
[[nodiscard]] std::map<std::string, const Violation*> who_is_to_blame(const Cluster& cluster,
                                                                      const Plan& plan,
                                                                      const std::vector<Violation>& violations);

}  // namespace reprieve
