// Where a proof of a gang's victims holds: rules may have narrowed the choice before cost decided.
#pragma once

#include <string>

#include "explain/retrials.h"

namespace reprieve {

// "in the smallest tier that could be had", "in rack-1, where an earlier plan made room for it"; empty: everywhere that
// the owner may run.
[[nodiscard]] std::string proof_scope(const Retrials& trials, const std::string& owner);

}  // namespace reprieve
