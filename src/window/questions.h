// Questions to a copy of the cluster: why, what would place it, what if.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "window/decisions.h"
#include "window/moment.h"

namespace reprieve::window {

// Why a decision is as it is: explanations of its owner and of its victims (as `explain -o json` prints them), and the
// alternatives of the whole plan.
[[nodiscard]] Result<std::string> why_document(Scene& scene,
                                               const std::string& owner,
                                               const std::vector<std::string>& victims);

// What the plan means for one pod or gang, as `explain -o json` prints it. The error of a name that is none, or of
// several, begins with the status 404.
[[nodiscard]] Result<std::string> explanation_document(Scene& scene, const std::string& name);

// Takes manifests into a cluster: what is there is replaced, `$patch: delete` takes away. Gives warnings.
using TakeManifests =
    std::function<Result<std::vector<std::string>>(Cluster& cluster, std::string_view text, Time now)>;

// The plan with these manifests, beside today's.
[[nodiscard]] Result<std::string> what_if_document(Scene& scene, std::string_view text, const TakeManifests& take);

}  // namespace reprieve::window
