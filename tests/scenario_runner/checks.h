// Checks: a plan against what is expected of it. Complaints are sentences: expected this, got that.
#pragma once

#include <string>
#include <vector>

#include "expect.h"
#include "planning.h"

namespace reprieve::scenario {

[[nodiscard]] std::vector<std::string> check_cycle(const CycleExpect& expect, const Planned& planned);

// `plan` needs only the arrays that decisions are made of.
[[nodiscard]] std::vector<std::string> check_decisions(const Decisions& expect, const Json& plan);

// Whether `got` has everything that is written in `wanted`, with the same values; lists are compared entry by entry.
[[nodiscard]] bool matches_part(const Json& wanted, const Json& got);

}  // namespace reprieve::scenario
