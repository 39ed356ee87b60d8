// An amount of a resource, for people.
#pragma once

#include <cstdint>
#include <string>

#include "model/resources.h"

namespace reprieve {

// "1500m" of cpu, "1.5Gi" of memory, "4" of anything else.
[[nodiscard]] std::string amount_text(Dim dim, std::int64_t value);

}  // namespace reprieve
