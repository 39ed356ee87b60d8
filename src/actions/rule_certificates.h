// Certificates of servingPreempt, which searches nothing: a rule says who goes, replica by replica. What that costs is
// told, and no bound is claimed.
#pragma once

#include "model/plan.h"
#include "state/snapshot.h"

namespace reprieve {

// One for each serving deployment that others make room for.
void certify_by_rule(const Snapshot& snapshot, Plan& plan);

}  // namespace reprieve
