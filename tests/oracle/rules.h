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
// The same where every pod that its gang could spare is a unit, whatever its order calls its surplus. What is left of a
// gang that goes together is one, perhaps without a pod of its own. Budgets are broken by whom the order's units say.
[[nodiscard]] std::vector<Unit> open_units_of(const Instance& instance, const Domain& domain);

// The pods that may be evicted for the demand at all, and those of them that are of use in the domain; sorted.
[[nodiscard]] std::vector<int> takeable_pods(const Instance& instance);
[[nodiscard]] std::vector<int> candidates_in(const Instance& instance, const Domain& domain);
// By pod: whoever finds its budget spent when the domain's units are walked from most to least important.
[[nodiscard]] std::vector<bool> budget_breakers(const Instance& instance, const Domain& domain);

// What all members ask for together.
[[nodiscard]] Amounts need_of(const Demand& demand);

// The terms of the cost vector, in order.
[[nodiscard]] std::vector<std::string> term_names(const Instance& instance);
using Price = std::vector<std::int64_t>;

// What victims cost together.
class Bill {
public:
    explicit Bill(const Instance& instance) : instance_(instance) {}

    void add(int pod, bool breaks_budget);
    // Units that break a gang, a pod without one included.
    void add_broken(std::int64_t units) { broken_ += units; }
    [[nodiscard]] Price price() const;

private:
    const Instance& instance_;
    std::int64_t violations_ = 0;
    std::int64_t highest_ = INT64_MIN;
    std::int64_t priorities_ = 0;
    std::int64_t broken_ = 0;
    std::int64_t pods_ = 0;
    std::int64_t own_ = 0;          // priorities of their own
    std::int64_t first_start_ = 0;  // among those of the highest priority
    Amounts destroyed_{};
};
[[nodiscard]] Price price_of(const Instance& instance, const std::vector<Unit>& units, const std::vector<bool>& gone);

// How many such members fit into this room.
[[nodiscard]] std::int64_t how_many(const Amounts& room, const Amounts& member);
// Free room of the node with nobody gone.
[[nodiscard]] Amounts free_on(const Instance& instance, int node);
// A unit that goes whole takes along what its gang could spare here.
[[nodiscard]] bool links_hold(const std::vector<Unit>& units, const std::vector<bool>& gone);
// Whether all members find a place on the domain's nodes, and under their quotas, once these units are gone; tries
// everything.
[[nodiscard]] bool fits_without(const Instance& instance, const Domain& domain, const std::vector<int>& gone);
[[nodiscard]] bool fits(const Instance& instance,
                        const Domain& domain,
                        const std::vector<Unit>& units,
                        const std::vector<bool>& gone);

}  // namespace reprieve::oracle
