// `reprieve explain`: what a plan means for one pod or gang.
#pragma once

#include <string>

#include "app/planning.h"

namespace reprieve {

struct ExplainOptions {
    std::string name;
    bool gang = false;
    PlanningOptions planning;  // the facts: with them, what would have been otherwise is worked out
    std::string plan_file;     // a plan, or a log of plans; empty: plan from the facts
    std::string output = "text";
};

[[nodiscard]] int explain_command(const ExplainOptions& options);
// The same for facts that are read already.
[[nodiscard]] int explain_with(Planning& planning, const std::string& name, bool gang, const std::string& output);

}  // namespace reprieve
