// Solver: everything that can be done for a demand, by trying it: every set of victims, every place of every member.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "victims.h"

namespace reprieve::worlds {

// A pod that the plan places.
struct Seat {
    int pod = -1;
    Spot spot;
    bool later = false;
    int turn = 0;  // of its demand, in the order in which a cycle serves them
};

// Whether these pods can be placed on these nodes one after another in some order, each passing every filter.
// `choose`: on any devices, and those that start now before those that come later, each in turn: whoever waits for
// victims counts for those that are served after it. Else on the devices that the seats name, in whatever order.
[[nodiscard]] bool can_follow(const World& world, const Places& places, const std::vector<Seat>& seats, bool choose);

// The state in which it is a demand's turn.
struct Turn {
    Mask spent = 0;           // evicted in this plan for those before it
    std::vector<Seat> seats;  // placed in this plan before it
};

struct Optimum {
    Mask set = 0;
    Mask site = 0;
    Price price;
};

class Solver {
public:
    Solver(const World& world, const WorldDemand& demand, Turn turn);

    [[nodiscard]] const Victims& victims() const { return victims_; }
    // Nothing: no set of victims lets the demand be placed.
    [[nodiscard]] std::optional<Optimum> optimum(const Reading& reading);
    [[nodiscard]] Price price(Mask set, Mask site, const Reading& reading);

private:
    // Whether the members fit on the site with this set gone, and all that was placed before still does. `held`: pods
    // of the set whose devices stay held.
    [[nodiscard]] bool fits(Mask set, Mask site, bool never_is_final, Mask held = 0);
    // Of the shared claims that the set frees, those that the demand needs: it does not fit where they are held. Asked
    // one after another by name, those that are not needed held meanwhile.
    [[nodiscard]] std::vector<Mask> needed(Mask set, Mask site, bool never_is_final);
    // Somebody of the set need not go.
    [[nodiscard]] bool has_idle(Mask set, Mask site, bool never_is_final);
    [[nodiscard]] bool place_rest(Places& with, Places& without, Mask left, int missing) const;
    [[nodiscard]] bool place_one(int pod, int node, Places& with, Places& without, Mask left, int missing) const;
    [[nodiscard]] Places after(Mask set, bool nominated, Mask held) const;
    [[nodiscard]] bool earlier_seats_hold(Mask set) const;
    [[nodiscard]] bool allowed(int pod, int node) const;

    const World& world_;
    const WorldDemand& demand_;
    Turn turn_;
    Places places_;
    Victims victims_;
    std::map<std::pair<int, int>, bool> never_;  // by pod and node, before anybody is evicted for this demand
    bool skip_never_ = true;
    Mask site_ = 0;
    std::map<std::tuple<Mask, Mask, bool, Mask>, bool> known_;
    bool joins_ = false;  // units that share claims may be one
};

}  // namespace reprieve::worlds
