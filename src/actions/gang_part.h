// What part of its gang a unit is, for the reason of an eviction.
#pragma once

#include <string>

#include "search/units.h"

namespace reprieve {

// ", surplus of its gang", ", its gang goes whole", ", 2 of the 4 pods of its gang"; empty: it is in no gang. Asked
// before the unit is evicted.
[[nodiscard]] std::string part_of_gang(const Snapshot& snapshot, const Unit& unit);

}  // namespace reprieve
