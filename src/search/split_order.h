// The order in which the pods of one gang are offered as its surplus.
#pragma once

#include <vector>

#include "search/units.h"

namespace reprieve {

// Most of the need covered, lowest priority, least waste, youngest, later name.
void sort_for_split(const Snapshot& snapshot, const Attack& attack, std::vector<PodId>& pods);

}  // namespace reprieve
