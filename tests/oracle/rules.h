// Rules: who may go together in a domain, and what a set of victims costs, told from the instance alone.
//
// This is a second telling of the rules, for the oracle; it shares no code with the engine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "instance.h"

namespace reprieve::oracle {

// Where the demand may sit: one node for a pod, a rack, a row or the cluster for a gang.
struct Domain {
    std::string name;
    std::vector<int> nodes;
};
[[nodiscard]] std::vector<Domain> domains_of(const Instance& instance);

struct Unit {
    bool safe = false;      // its gang can spare it
    bool in_group = false;  // else a pod by itself
    int gang = -1;
    int whole = -1;  // SAFE: the unit that must not go without this one
    std::int64_t priority = 0;
    std::int64_t start = 0;  // of its earliest member
    std::int64_t violations = 0;
    std::vector<int> pods;
};
[[nodiscard]] std::vector<Unit> units_of(const Instance& instance, const Domain& domain);

// What all members ask for together.
[[nodiscard]] Amounts need_of(const Demand& demand);

// The terms of the default cost vector, in order.
[[nodiscard]] std::vector<std::string> term_names(const Demand& demand);
using Price = std::vector<std::int64_t>;
[[nodiscard]] Price price_of(const Instance& instance, const std::vector<Unit>& units, const std::vector<bool>& gone);

// Free room of the node with nobody gone.
[[nodiscard]] Amounts free_on(const Instance& instance, int node);
// A unit that goes whole takes along what its gang could spare here.
[[nodiscard]] bool links_hold(const std::vector<Unit>& units, const std::vector<bool>& gone);
// Whether all members find a place on the domain's nodes once these units are gone; tries everything.
[[nodiscard]] bool fits(const Instance& instance,
                        const Domain& domain,
                        const std::vector<Unit>& units,
                        const std::vector<bool>& gone);

}  // namespace reprieve::oracle
