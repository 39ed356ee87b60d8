// What would have been otherwise, in words.
#pragma once

#include <string>

#include "app/fact_sheet.h"
#include "explain/explanation.h"

namespace reprieve {

void tell_margin(FactSheet& sheet, const Margin& margin, const EvictionStory& story);
// What it takes to be placed.
[[nodiscard]] std::string placing_words(const Remedy& remedy);
// Who would go if those who go now were protected.
[[nodiscard]] std::string next_words(const SparedStory& story);

}  // namespace reprieve
