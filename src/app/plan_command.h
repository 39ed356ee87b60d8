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
    bool alternatives = false;  // beside plans with other aims
    bool verify = false;        // follow it, and fail if it does not come to rest
};

[[nodiscard]] int plan_command(const PlanOptions& options);

}  // namespace reprieve
