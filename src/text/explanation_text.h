// Explanations for people: a sentence that says what happens, and facts below it, to be read aloud.
#pragma once

#include <string>

#include "explain/explanation.h"
#include "text/table.h"

namespace reprieve {

[[nodiscard]] std::string explanation_to_text(const Explanation& explanation, const TableStyle& style);

}  // namespace reprieve
