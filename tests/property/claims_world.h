// Random worlds of devices by claim: slices of one node and of several, partitions, taints; claims of every shape, some
// allocated, some shared; pods that hold them and pods that want more.
#pragma once

#include <string>
#include <vector>

#include "random_world.h"

namespace reprieve::property {

// What is allocated fits what there is, each device once.
[[nodiscard]] std::vector<Json> random_claims_world();

// One object of such a world under one of a few names, with no regard for the others: a device may be in two claims,
// a slice may be missing, a claim may name pods that do not exist.
[[nodiscard]] Json random_claims_object();

}  // namespace reprieve::property
