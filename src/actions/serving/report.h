// Report: what a pass decided, in the words of a plan.
#pragma once

#include "actions/serving/pass.h"
#include "actions/serving/view.h"
#include "model/plan.h"

namespace reprieve::serving {

// Only what serving adds to the plan: scale changes, matches, evictions, forced deletions, annotations, and replicas
// that found no place.
[[nodiscard]] Plan report(const Snapshot& snapshot, const View& view, const Outcome& outcome);

}  // namespace reprieve::serving
