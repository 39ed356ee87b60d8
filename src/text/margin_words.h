// What would have been otherwise, in words.
#pragma once

#include <string>

#include "explain/explanation.h"
#include "text/fact_sheet.h"

namespace reprieve {

void tell_margin(FactSheet& sheet, const Margin& margin, const EvictionStory& story);
// What it takes to be placed.
[[nodiscard]] std::string placing_words(const Remedy& remedy);
// Who would go if those who go now were protected.
[[nodiscard]] std::string next_words(const SparedStory& story);

}  // namespace reprieve
