// The embedded cluster, as something to run the loop on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/run_ports.h"
#include "base/result.h"
#include "sim/world_ends.h"

namespace reprieve {

struct EmbeddedOptions {
    std::vector<std::string> files;
    WorldOptions world;
    Pace pace;  // none: as fast as it can
};

// Loads the files; what was passed over is said on standard error. The error is `file:line: object: field: what`.
[[nodiscard]] Result<std::unique_ptr<ClusterLink>> open_embedded(const EmbeddedOptions& options, Vocabulary& words);

}  // namespace reprieve
