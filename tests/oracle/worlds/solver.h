// Solver: everything that can be done for a demand, by trying it: every set of victims, every place of every member.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "victims.h"

namespace reprieve::worlds {

// A pod that the plan places.
struct Seat {
    int pod = -1;
    int node = -1;
    bool later = false;
};

// Whether these pods can be placed on these nodes one after another in some order, each passing every filter.
[[nodiscard]] bool can_follow(const World& world, Places places, std::vector<Seat> seats);

// The state in which it is a demand's turn.
struct Turn {
    Mask spent = 0;           // evicted in this plan for those before it
    std::vector<Seat> seats;  // placed in this plan before it
};

struct Optimum {
    Mask set = 0;
    int place = -1;
    Price price;
};

class Solver {
public:
    Solver(const World& world, const WorldDemand& demand, Turn turn);

    [[nodiscard]] const Victims& victims() const { return victims_; }
    // Nothing: no set of victims lets the demand be placed.
    [[nodiscard]] std::optional<Optimum> optimum(const Reading& reading);
    // Whether the members fit with this set gone, and all that was placed before still does. `place`: as in `price`.
    [[nodiscard]] bool fits(Mask set, int place, bool never_is_final);

private:
    [[nodiscard]] Places after(Mask set, bool nominated) const;
    [[nodiscard]] bool earlier_seats_hold(Mask set) const;
    [[nodiscard]] bool place_rest(Places& with, Places& without, Mask left, int missing) const;
    [[nodiscard]] bool allowed(int pod, int node) const;

    const World& world_;
    const WorldDemand& demand_;
    Turn turn_;
    Places places_;
    Victims victims_;
    std::vector<bool> never_;  // by pod and node, before anybody is evicted for this demand
    bool skip_never_ = true;
    int only_ = -1;
    std::map<std::tuple<Mask, int, bool>, bool> known_;
};

}  // namespace reprieve::worlds
