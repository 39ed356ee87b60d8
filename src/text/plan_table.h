// Plans for people: one line that says what happens, then a section for each kind of decision that was made.
//
// The same plan and style give the same bytes. Names and reasons are printed whole where there is no terminal; whatever
// they contain, they cannot act on the terminal.
#pragma once

#include <string>

#include "model/plan.h"
#include "text/table.h"

namespace reprieve {

// What standard output is fit for.
[[nodiscard]] TableStyle table_style();

[[nodiscard]] std::string plan_to_table(const Plan& plan, const TableStyle& style);

}  // namespace reprieve
