// Engine: the program's own way from manifests to a plan.
//
// engine.cc is the one place that knows the engine's types. The plan comes back as the JSON of the contract.
#pragma once

#include <vector>

#include "decision.h"
#include "manifests.h"

namespace reprieve::worlds {

// Facts that arrive together, as from a watch: of two facts about one object the later one holds.
using Batch = std::vector<Json>;

// REQUIRES: documents that the program reads. Each batch is taken in before the next one comes.
[[nodiscard]] Decision decide(const std::vector<Batch>& batches, const Json& config);

}  // namespace reprieve::worlds
