// Receipt: one decision with everything that it takes to argue about it: the nodes it touches before and after, who
// leaves in which order, cost beside the runner-up, and the commands that give the same answer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "window/decisions.h"
#include "window/moment.h"

namespace reprieve::window {

// How to get the same at a terminal.
struct Origin {
    std::string kind = "files";  // "files", "loop", "record"
    std::string arguments;       // of commands that plan again: "-f examples/run --config c.yaml"
};

// Row and receipt of a decision, from the cluster as it was when the plan was made.
[[nodiscard]] std::shared_ptr<DecisionEntry> describe(const Cluster& cluster,
                                                      const Plan& plan,
                                                      const Decision& decision,
                                                      const Origin& origin);

// What explains the pod or gang, and plans again, as that cycle of a record did. Several cycles may share an instant.
[[nodiscard]] std::vector<std::string> commands_of_cycle(const std::string& about,
                                                         const std::string& arguments,
                                                         std::int64_t cycle);

}  // namespace reprieve::window
