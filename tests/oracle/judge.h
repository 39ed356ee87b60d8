// Judge: what is wrong with a plan, given the optimum.
#pragma once

#include <optional>
#include <string>

#include "model/plan.h"
#include "optimum.h"

namespace reprieve::oracle {

// What the plan's victims cost by the rules; nullopt if they are no set of units of the domain it chose.
[[nodiscard]] std::optional<Price> price_of_plan(const Instance& instance, const Plan& plan);

// Empty: the plan and its certificate are right.
// `literal`: by the seed's own walk alone, which may not find what there is.
[[nodiscard]] std::string complaint(const Instance& instance,
                                    const Plan& plan,
                                    const Optimum& optimum,
                                    bool literal = false);

}  // namespace reprieve::oracle
