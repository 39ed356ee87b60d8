// `reprieve plan`: manifests in, plan out.
#pragma once

#include <string>
#include <vector>

namespace reprieve {

struct PlanOptions {
    std::vector<std::string> files;
    std::string config_file;
    std::vector<std::string> only;
    std::string now;
    std::string output = "table";
};

[[nodiscard]] int plan_command(const PlanOptions& options);

}  // namespace reprieve
