// Costs for people: the terms of a cost vector in words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/plan.h"

namespace reprieve {

// Work in resource-seconds; of memory in the unit that people write.
[[nodiscard]] std::string work_text(std::int64_t resource_seconds);

// The value as a person reads it, e.g. a time where the term is one.
[[nodiscard]] std::string cost_value(const std::string& term, std::int64_t value);
// The same for a term of this cost: sums of priorities are what people add up.
[[nodiscard]] std::string cost_text(const CostVector& cost, const std::string& term, std::int64_t value);

// "highest priority 100", "no disruption budget broken".
[[nodiscard]] std::string term_words(const CostVector& cost, const std::string& term);

// All terms, "2 pods, highest priority 100, ...".
[[nodiscard]] std::string cost_words(const CostVector& cost);

// "highest priority 1000 instead of 100": `other` in that term, and then `cost`. Empty where one of them has no such
// term.
[[nodiscard]] std::string difference_words(const CostVector& cost, const CostVector& other, const std::string& term);

// What a bound leaves open where its term says nothing at all: "which queues have to give". Empty: it says something.
[[nodiscard]] std::string unproven_words(const CostVector& bound, const std::string& term);

// The name of the first term in which they differ; empty if there is none.
[[nodiscard]] std::string first_difference(const CostVector& a, const CostVector& b);

// "1h50m", "40m", "30s".
[[nodiscard]] std::string duration_words(std::int64_t seconds);

// "a", "a and b", "a, b and 3 more".
[[nodiscard]] std::string list_words(const std::vector<std::string>& names);

// "1 pod", "2 pods".
[[nodiscard]] std::string count_words(std::int64_t count, const std::string& one, const std::string& many);

}  // namespace reprieve
