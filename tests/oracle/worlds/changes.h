// Changes: another past of a world. The same facts come in batches, some of them first as they once were: nodes of
// other sizes, groups with another minimum, priority, queue or topology, pods elsewhere.
#pragma once

#include "engine.h"

namespace reprieve::worlds {

// In the end the batches say what the documents of the world say.
[[nodiscard]] std::vector<Batch> another_past(const World& world);

}  // namespace reprieve::worlds
