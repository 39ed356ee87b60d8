// Objects that controllers of other projects make out of theirs: the Jobs of a JobSet, the pods of a LeaderWorkerSet.
#pragma once

#include <string>
#include <vector>

#include "sim/json_path.h"

namespace reprieve {

// A pod of the template, with an owner reference to `owner` (an object with kind and name).
[[nodiscard]] Json pod_from_template(const Json* pod_template, const Json& owner, const std::string& name);

// What a JobSet or a LeaderWorkerSet stands for; nothing for other kinds, and while it is suspended.
[[nodiscard]] std::vector<Json> derived_objects(const Json& body);

}  // namespace reprieve
