// History as JSON: decisions in the order in which they were made, and how long somebody waited.
#pragma once

#include <string>
#include <vector>

#include "record/reader.h"

namespace reprieve {

// `waits` are given where somebody was asked for by name.
[[nodiscard]] std::string history_to_json(const std::vector<RecordedDecision>& decisions,
                                          const std::vector<RecordedWait>* waits,
                                          const std::vector<RecordGap>& gaps);

}  // namespace reprieve
