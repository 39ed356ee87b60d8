// Planning: manifests in, plan out, as `reprieve plan` does it, with the judgements that hold for every plan.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "model/config.h"
#include "model/plan.h"
#include "strict.h"

namespace reprieve::scenario {

struct Setup {
    SchedulerConfig config;
    std::string config_text;
    std::vector<std::string> only;
    Time now;
};

struct Planned {
    std::string error;  // the input was refused
    Plan plan;
    std::string json;
    int exit = 0;
    // What the audit found, and whether a second cycle on the same snapshot says something else.
    std::vector<std::string> violations;
};

// One text as it stands in a file; documents for the runner itself are passed over.
[[nodiscard]] Planned plan_text(const std::string& name, const std::string& text, const Setup& setup);
[[nodiscard]] Planned plan_documents(const std::vector<Json>& documents, const Setup& setup);

}  // namespace reprieve::scenario
