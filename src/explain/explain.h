// explain: what a plan means for one pod or gang.
#pragma once

#include <string>

#include "explain/retrials.h"
#include "explain/subject.h"

namespace reprieve {

// `trials` is null where only the plan is known: then nothing is said about what would have been otherwise.
[[nodiscard]] Explanation explain(const Plan& plan, Retrials* trials, const Subject& subject);

}  // namespace reprieve
