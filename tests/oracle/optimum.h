// Optimum: the least price at which a demand can be served, over all domains and all sets of units; found by trying
// everything, and by an integer program solved term by term.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rules.h"

namespace reprieve::oracle {

enum class Found { kOptimum, kImpossible, kUnknown };

struct Optimum {
    Found found = Found::kImpossible;
    Price price;
    std::string domain;
};

// REQUIRES: few units in every domain.
[[nodiscard]] Optimum try_everything(const Instance& instance);
inline constexpr std::size_t kMostUnitsToTry = 12;

// What these pods cost if they go for a demand in this domain, whichever of them are called the surplus of their gangs;
// nullopt if no way of calling them so is allowed.
[[nodiscard]] std::optional<Price> price_of_pods(const Instance& instance,
                                                 const Domain& domain,
                                                 const std::vector<int>& gone);
// Whether a gang may lose just these of its pods, whichever of them are called its surplus.
[[nodiscard]] bool may_lose(const Instance& instance, int gang, const std::vector<int>& gone);
// The same where any pods of a gang may be its surplus, not only those that its order calls so. REQUIRES: few pods.
[[nodiscard]] Optimum try_every_split(const Instance& instance);

// The same for many. Unknown: the solver found no proof in that many seconds per question.
[[nodiscard]] Optimum ask_solver(const Instance& instance, int seconds);

// No domain, with everybody gone who may go, is needed to know this.
[[nodiscard]] bool fits_without_evictions(const Instance& instance);

}  // namespace reprieve::oracle
