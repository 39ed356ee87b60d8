// Intents: what a plan records on the pods that wait for its evictions, before any of them happens.
#pragma once

#include "base/time.h"
#include "model/plan.h"
#include "state/cluster.h"

namespace reprieve {

// Fills plan.intents. Each names the victims on its own node, and the first of a demand also those on nodes where
// nobody waits. The deadline is when the last victim of the demand should be gone, and `patience`. A nomination of an
// earlier plan that goes on, and one of a demand that costs no eviction, records nothing.
void record_intents(Plan& plan, const Cluster& cluster, Duration patience);

// Notes the claims that wait in vain with their pods: allocated for nobody but a pod that the plan leaves unplaced.
void release_claims(Plan& plan, const Cluster& cluster);

}  // namespace reprieve
