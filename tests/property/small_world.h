// Small worlds in which only amounts decide, and what the rules say about them, worked out the slow way.
//
// The oracle shares no code with the engine: it tries every set of victims on every node.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "random_world.h"

namespace reprieve::property {

struct SmallPod {
    std::string name;
    int node = 0;
    int priority = 0;
    int cpu = 0;     // cores
    int memory = 0;  // Gi
    int start = 0;   // hour
    std::string app;
};

struct SmallBudget {
    std::string app;
    int allowed = 0;
};

struct SmallWorld {
    std::vector<std::pair<int, int>> nodes;  // cpu, memory
    std::vector<SmallPod> pods;
    std::vector<SmallBudget> budgets;
    SmallPod newcomer;

    [[nodiscard]] std::vector<Json> documents() const;
    [[nodiscard]] bool fits(int node, const std::vector<bool>& gone) const;
    [[nodiscard]] bool fits_somewhere() const;
};

// Roomy: somewhere there is probably room for the newcomer; else most nodes are full.
[[nodiscard]] SmallWorld random_small_world(bool roomy);

// The terms in their default order; start is hours, so that comparing is all that can be done with it.
struct SmallCost {
    int violations = 0;
    std::int64_t max_priority = 0;
    std::int64_t priority_sum = 0;
    int pods = 0;
    int latest_start = 0;  // negated
    friend auto operator<=>(const SmallCost&, const SmallCost&) = default;
};

struct Sentence {
    int node = 0;
    std::vector<bool> gone;  // by position in `pods`
    SmallCost cost;
};

class Oracle {
public:
    explicit Oracle(const SmallWorld& world) : world_(world) {}

    // The cheapest set of all sets on all nodes; of equal ones that on the first node.
    [[nodiscard]] std::optional<Sentence> cheapest() const;
    // Remove all that may go; add back, those that break a budget first, each from most to least important.
    [[nodiscard]] std::optional<Sentence> literal() const;
    [[nodiscard]] SmallCost cost(int node, const std::vector<bool>& gone) const;

private:
    // Lower pods of a node, from most to least important.
    [[nodiscard]] std::vector<std::size_t> candidates(int node) const;
    // Those of them whose eviction would break a budget.
    [[nodiscard]] std::vector<bool> breakers(const std::vector<std::size_t>& candidates) const;

    const SmallWorld& world_;
};

}  // namespace reprieve::property
