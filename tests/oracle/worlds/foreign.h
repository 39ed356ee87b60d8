// Foreign rules: what filters look at that the worlds' own filters do not tell a second time.
//
// Namespaces of affinity, addresses of host ports, matchLabelKeys, limits of attached volumes, volumes that wait for
// their first pod, expressions over nodes. They are written into a world's manifests, by the names of its pods and
// nodes. Who may run where is then known from `allocate` alone (by_allocation.h): the filters are the engine's, the
// search is not.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "world.h"

namespace reprieve::worlds {

void add_foreign_rules(const World& world, std::vector<nlohmann::json>& documents);

}  // namespace reprieve::worlds
