// Explanations as JSON, for scripts. The bytes are stable: keys in a fixed order, what has no value is left out.
#pragma once

#include <string>

#include "explain/explanation.h"

namespace reprieve {

[[nodiscard]] std::string explanation_to_json(const Explanation& explanation);

}  // namespace reprieve
