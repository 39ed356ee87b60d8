// Which devices a pod holds is written on it, or assumed. Where an assumption decided, the plan says so.
#pragma once

#include <string>
#include <vector>

#include "model/plan.h"
#include "state/cluster.h"

namespace reprieve {

// Sentences for each node on which the plan gives away devices while pods there do not say which ones they hold. They
// are taken to hold the lowest free ones, all of each where the node is not registered in their dialect; if that is
// wrong, so is the choice.
[[nodiscard]] std::vector<std::string> device_guesses(const Plan& plan, const Cluster& cluster);

}  // namespace reprieve
