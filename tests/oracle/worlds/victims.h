// Victims: who may be evicted for a demand, in which sets, and what a set costs.
//
// A set is a mask over the pods of the world. The rules of who may go are those of units: a pod by itself; of a gang
// any pods that it can spare, whichever they are, or the gang whole; of a core group all or each by itself. Where the
// text of the rules can be read in two ways that both make sense, a Reading names the choice, and a claim is called
// false only if it is false in every reading.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "filters.h"

namespace reprieve::worlds {

using Mask = std::uint32_t;

[[nodiscard]] constexpr Mask bit(int pod) { return Mask{1} << static_cast<unsigned>(pod); }
[[nodiscard]] constexpr bool has(Mask set, int pod) { return (set & bit(pod)) != 0; }

struct Reading {
    // Whose turn it is to spend a budget: the candidates of the place, all that may go, or the victims alone.
    enum class Walk : std::uint8_t { kPlace, kEverywhere, kVictims, kNobody } walk = Walk::kPlace;
    // The most important victim's start: the earliest among those of the highest priority, or that of the first unit.
    bool start_of_unit = false;
    // Nodes that say never to a member before anybody is evicted are out for it.
    bool never_is_final = true;
};

// The terms in the order of the action's default, by name.
using Price = std::vector<std::pair<std::string, std::int64_t>>;
// Smaller is cheaper. Both have the same terms.
[[nodiscard]] bool cheaper(const Price& a, const Price& b);

class Victims {
public:
    // `places`: what is left when it is the demand's turn; `spent`: who was evicted in this plan before.
    Victims(const World& world, const WorldDemand& demand, const Places& places, Mask spent);

    [[nodiscard]] bool may_go(int pod) const { return has(open_, pod); }
    // Every set that the rules allow, the empty one first.
    [[nodiscard]] const std::vector<Mask>& sets() const { return sets_; }
    // What is wrong with the set; empty: nothing.
    [[nodiscard]] std::string complaint(Mask set) const;
    // `place`: the node of a single pod; -1: anywhere.
    [[nodiscard]] Price price(Mask set, int place, const Reading& reading) const;

private:
    struct Unit {
        Mask pods = 0;
        bool in_group = false;
        int priority = 0;
        int start = 0;
    };
    [[nodiscard]] Mask members_left(int gang) const;
    [[nodiscard]] int spare(int gang) const;
    [[nodiscard]] int standing(int pod) const;
    [[nodiscard]] bool keeps_gangs(Mask set) const;
    [[nodiscard]] bool keeps_budgets(Mask set) const;
    [[nodiscard]] Unit unit_of(Mask pods, bool in_group) const;
    [[nodiscard]] std::vector<Unit> units_at(int place) const;
    [[nodiscard]] std::vector<Unit> units_in(Mask set) const;
    void split(int gang, Mask here, std::vector<Unit>& out) const;
    [[nodiscard]] std::int64_t violations(Mask set, int place, const Reading& reading) const;
    [[nodiscard]] std::int64_t broken(Mask set) const;
    [[nodiscard]] std::int64_t first_start(Mask set, const Reading& reading) const;
    [[nodiscard]] const WorldPod& pod(int p) const { return world_.pods[static_cast<std::size_t>(p)]; }

    const World& world_;
    const WorldDemand& demand_;
    const Places& places_;
    Mask spent_;
    Mask open_ = 0;
    int need_cpu_ = 0;
    std::vector<Mask> sets_;
};

}  // namespace reprieve::worlds
