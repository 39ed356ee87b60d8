#include "solver.h"

#include <algorithm>

namespace reprieve::worlds {

bool can_follow(const World& world, Places places, std::vector<Seat> seats) {
    if (seats.empty()) return true;
    for (std::size_t i = 0; i < seats.size(); ++i) {
        const Seat seat = seats[i];
        if (ask(world, places, seat.pod, seat.node) != Answer::kYes) continue;
        Places next = places;
        next[static_cast<std::size_t>(seat.pod)] = seat.node;
        std::vector<Seat> rest = seats;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
        if (can_follow(world, std::move(next), std::move(rest))) return true;
    }
    return false;
}

namespace {

Places at_turn(const World& world, const Turn& turn) {
    Places out = places_of(world);
    for (std::size_t p = 0; p < out.size(); ++p) {
        if (has(turn.spent, static_cast<int>(p))) out[p] = -1;
    }
    for (const Seat& seat : turn.seats)
        out[static_cast<std::size_t>(seat.pod)] = seat.node;
    return out;
}

}  // namespace

Solver::Solver(const World& world, const WorldDemand& demand, Turn turn)
    : world_(world),
      demand_(demand),
      turn_(std::move(turn)),
      places_(at_turn(world, turn_)),
      victims_(world, demand, places_, turn_.spent) {
    for (int p : demand_.pods) {
        for (int n = 0; n < static_cast<int>(world_.nodes.size()); ++n)
            never_.push_back(ask(world_, places_, p, n) == Answer::kNever);
    }
}

Places Solver::after(Mask set, bool nominated) const {
    Places out = places_;
    for (std::size_t p = 0; p < out.size(); ++p) {
        if (has(set, static_cast<int>(p))) out[p] = -1;
    }
    if (nominated) return out;
    for (const Seat& seat : turn_.seats) {
        if (seat.later) out[static_cast<std::size_t>(seat.pod)] = -1;
    }
    return out;
}

// Those who were placed before must still pass with the new victims gone, as if they bound just then.
bool Solver::earlier_seats_hold(Mask set) const {
    Places base = after(set, true);
    for (const Seat& seat : turn_.seats)
        base[static_cast<std::size_t>(seat.pod)] = -1;
    return can_follow(world_, std::move(base), turn_.seats);
}

bool Solver::allowed(int pod, int node) const {
    if (only_ >= 0 && node != only_) return false;
    const auto at = static_cast<std::size_t>(std::ranges::find(demand_.pods, pod) - demand_.pods.begin());
    return !skip_never_ || !never_[at * world_.nodes.size() + static_cast<std::size_t>(node)];
}

// Places `missing` of the pods that are left, in any order. Pods with equal traits are interchangeable: only the first
// of them that is left is tried.
bool Solver::place_rest(Places& with, Places& without, Mask left, int missing) const {
    if (missing == 0) return true;
    std::vector<const Traits*> tried;
    for (int p : demand_.pods) {
        const Traits& traits = world_.pods[static_cast<std::size_t>(p)].traits;
        if (!has(left, p) || std::ranges::any_of(tried, [&](const Traits* t) { return *t == traits; })) continue;
        tried.push_back(&traits);
        for (int n = 0; n < static_cast<int>(world_.nodes.size()); ++n) {
            if (!allowed(p, n) || ask(world_, with, p, n) != Answer::kYes) continue;
            // A pod must pass with the nominated pods there, and again without them.
            if (ask(world_, without, p, n) != Answer::kYes) continue;
            with[static_cast<std::size_t>(p)] = n;
            without[static_cast<std::size_t>(p)] = n;
            const bool done = place_rest(with, without, left & ~bit(p), missing - 1);
            with[static_cast<std::size_t>(p)] = -1;
            without[static_cast<std::size_t>(p)] = -1;
            if (done) return true;
        }
    }
    return false;
}

bool Solver::fits(Mask set, int place, bool never_is_final) {
    const auto [at, fresh] = known_.try_emplace({set, place, never_is_final}, false);
    if (!fresh) return at->second;
    skip_never_ = never_is_final;
    only_ = place;
    Mask left = 0;
    for (int p : demand_.pods)
        left |= bit(p);
    Places with = after(set, true);
    Places without = after(set, false);
    at->second = place_rest(with, without, left, demand_.min) && earlier_seats_hold(set);
    return at->second;
}

std::optional<Optimum> Solver::optimum(const Reading& reading) {
    std::vector<int> places{-1};
    if (demand_.gang < 0) {
        places.clear();
        for (int n = 0; n < static_cast<int>(world_.nodes.size()); ++n)
            places.push_back(n);
    }
    std::optional<Optimum> best;
    for (Mask set : victims_.sets()) {
        for (int place : places) {
            Optimum next{.set = set, .place = place, .price = victims_.price(set, place, reading)};
            if (best && !cheaper(next.price, best->price)) continue;
            if (!fits(set, place, reading.never_is_final)) continue;
            // Nothing is cheaper than nobody.
            if (set == 0) return next;
            best = std::move(next);
        }
    }
    return best;
}

}  // namespace reprieve::worlds
