// spare: the last look at a plan: who need not go after all?
//
// Demands are served one after another. A later one may take a big victim whose room makes an earlier, smaller victim
// on the same node superfluous; alone, neither could know.
//
// All units that the plan evicts are one VictimProblem. Its question: do all placements of the plan still hold?
#pragma once

#include "actions/desk.h"

namespace reprieve {

// Gives back, budget breakers first and from most important down, every unit without which all placements of the plan
// still hold. Where queues are balanced, none comes back beyond its queue's grant.
void spare_superfluous(Desk& desk);

}  // namespace reprieve
