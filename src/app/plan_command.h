// `reprieve plan`: manifests in, plan out.
#pragma once

#include <string>
#include <vector>

#include "app/planning.h"

namespace reprieve {

struct PlanOptions {
    PlanningOptions planning;
    std::vector<std::string> only;
    std::string output = "table";
};

[[nodiscard]] int plan_command(const PlanOptions& options);

}  // namespace reprieve
