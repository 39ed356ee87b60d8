// Running a scenario: every plan on the way is judged, compared with what is expected, and must not depend on the order
// of the documents.
#pragma once

#include <filesystem>
#include <string>

#include "scenario.h"

namespace reprieve::scenario {

// Empty: everything is as expected. Else what is not, with the sentence of the file and the plan as a table.
// `golden` is the file that keeps the plan where the scenario asks for it; `update` rewrites it.
[[nodiscard]] std::string run_scenario(const Scenario& scenario, const std::filesystem::path& golden, bool update);

}  // namespace reprieve::scenario
