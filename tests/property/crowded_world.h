// Worlds in which much is equal: more pods in the way than a search lists, ties of every kind, budgets that overlap,
// resources whose names nobody knows. Where a tie or a cut is decided by the order in which facts were heard of, it
// shows here.
#pragma once

#include <vector>

#include "random_world.h"

namespace reprieve::property {

// Hundreds of pods stand in the way of a few that wait: by spread over zones, or under the limit of their queue.
[[nodiscard]] std::vector<Json> random_crowd();

// Gives a world what random worlds are poor in: budgets that overlap, resources of other names, gangs below composite
// groups, racks.
void add_ties(std::vector<Json>& world);

// Of the searches' work and of the lists of terms, whatever makes ties and cuts likely.
void add_short_searches(Json& config);

}  // namespace reprieve::property
