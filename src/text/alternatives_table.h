// Alternatives for people: a row for each plan, and below it who goes.
#pragma once

#include <string>

#include "explain/alternatives.h"
#include "text/table.h"

namespace reprieve {

[[nodiscard]] Table alternatives_section(const Alternatives& alternatives);

}  // namespace reprieve
