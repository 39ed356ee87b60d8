// Certificates of actions that search nothing: a rule says who goes, queue by queue or replica by replica. What that
// costs is told, and no bound is claimed.
#pragma once

#include "model/plan.h"
#include "state/snapshot.h"

namespace reprieve {

// One for each queue that is brought to its share, and for each serving deployment that others make room for.
void certify_by_rule(const Snapshot& snapshot, Plan& plan);

}  // namespace reprieve
