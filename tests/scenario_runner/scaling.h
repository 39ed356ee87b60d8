// What a plan says about serving deployments, done to the manifests of a scenario: numbers of replicas, marks on pods,
// deletions by force. Whoever creates and deletes pods accordingly is left to the scenario's events.
#pragma once

#include <vector>

#include "base/time.h"
#include "strict.h"

namespace reprieve::scenario {

void follow_serving(const Json& plan, Time now, std::vector<Json>& documents, Faults& faults);

}  // namespace reprieve::scenario
