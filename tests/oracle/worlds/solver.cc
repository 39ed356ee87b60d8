#include "solver.h"

#include <algorithm>

namespace reprieve::worlds {

bool can_follow(const World& world, const Places& places, const std::vector<Seat>& seats, bool choose) {
    if (seats.empty()) return true;
    const auto moment = [](const Seat& seat) { return std::pair(seat.later, seat.turn); };
    const auto first = std::ranges::min(seats, {}, moment);
    for (std::size_t i = 0; i < seats.size(); ++i) {
        const Seat& seat = seats[i];
        if (choose && moment(seat) != moment(first)) continue;
        std::vector<Mask> devices{seat.spot.devices};
        if (choose) devices = device_choices(world, places, seat.pod, seat.spot.node);
        for (Mask held : devices) {
            const Spot spot{.node = seat.spot.node, .devices = held};
            if (!passes(world, places, seat.pod, spot)) continue;
            Places next = places;
            next[static_cast<std::size_t>(seat.pod)] = spot;
            std::vector<Seat> rest = seats;
            rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
            if (can_follow(world, next, rest, choose)) return true;
        }
    }
    return false;
}

namespace {

Places at_turn(const World& world, const Turn& turn) {
    Places out = places_later(world);
    for (std::size_t p = 0; p < out.size(); ++p) {
        if (has(turn.spent, static_cast<int>(p))) out[p] = {};
    }
    for (const Seat& seat : turn.seats)
        out[static_cast<std::size_t>(seat.pod)] = seat.spot;
    return out;
}

}  // namespace

Solver::Solver(const World& world, const WorldDemand& demand, Turn turn)
    : world_(world),
      demand_(demand),
      turn_(std::move(turn)),
      places_(at_turn(world, turn_)),
      victims_(world, demand, places_, turn_.spent) {
    joins_ = world_.pod(demand_.pods.front()).traits.gpus > 0 && victims_.counts_units() &&
             !victims_.shared_claims().empty();
    for (int p : demand_.pods) {
        for (int n = 0; n < world_.node_count(); ++n)
            never_[{p, n}] = says_never(world_, places_, p, n);
    }
}

Places Solver::after(Mask set, bool nominated, Mask held) const {
    Places out = places_;
    for (std::size_t p = 0; p < out.size(); ++p) {
        if (!has(set, static_cast<int>(p))) continue;
        const Spot was = out[p];
        out[p] = {};
        if (has(held, static_cast<int>(p))) out[p] = {.devices = was.devices, .ghost = was.node};
    }
    if (nominated) return out;
    for (const Seat& seat : turn_.seats) {
        if (seat.later) out[static_cast<std::size_t>(seat.pod)] = {};
    }
    return out;
}

// Those who were placed before must still pass with the new victims gone, as if they bound just then.
bool Solver::earlier_seats_hold(Mask set) const {
    Places base = after(set, true, 0);
    for (const Seat& seat : turn_.seats)
        base[static_cast<std::size_t>(seat.pod)] = {};
    return can_follow(world_, base, turn_.seats, false);
}

bool Solver::allowed(int pod, int node) const { return has(site_, node) && !(skip_never_ && never_.at({pod, node})); }

bool Solver::place_one(int pod, int node, Places& with, Places& without, Mask left, int missing) const {
    for (Mask devices : device_choices(world_, with, pod, node)) {
        const Spot spot{.node = node, .devices = devices};
        // A pod must pass with the nominated pods there, and again without them.
        if (!passes(world_, with, pod, spot) || !passes(world_, without, pod, spot)) continue;
        with[static_cast<std::size_t>(pod)] = spot;
        without[static_cast<std::size_t>(pod)] = spot;
        const bool done = place_rest(with, without, left & ~bit(pod), missing - 1);
        with[static_cast<std::size_t>(pod)] = {};
        without[static_cast<std::size_t>(pod)] = {};
        if (done) return true;
    }
    return false;
}

// Places `missing` of the pods that are left, in any order. Pods with equal traits are interchangeable: only the first
// of them that is left is tried.
bool Solver::place_rest(Places& with, Places& without, Mask left, int missing) const {
    if (missing == 0) return true;
    std::vector<const Traits*> tried;
    for (int p : demand_.pods) {
        const Traits& traits = world_.pod(p).traits;
        if (!has(left, p) || std::ranges::any_of(tried, [&](const Traits* t) { return *t == traits; })) continue;
        tried.push_back(&traits);
        for (int n = 0; n < world_.node_count(); ++n) {
            if (allowed(p, n) && place_one(p, n, with, without, left, missing)) return true;
        }
    }
    return false;
}

std::vector<Mask> Solver::needed(Mask set, Mask site, bool never_is_final) {
    std::vector<Mask> out;
    Mask held = 0;
    for (Mask users : joins_ ? victims_.shared_claims() : std::vector<Mask>()) {
        if ((users & ~set) != 0) continue;
        if (fits(set, site, never_is_final, held | users))
            held |= users;
        else
            out.push_back(users);
    }
    return out;
}

Price Solver::price(Mask set, Mask site, const Reading& reading) {
    return victims_.price(set, site, reading, needed(set, site, reading.never_is_final));
}

bool Solver::has_idle(Mask set, Mask site, bool never_is_final) {
    return std::ranges::any_of(victims_.sets(), [&](Mask fewer) {
        return fewer != set && (fewer & ~set) == 0 && fits(fewer, site, never_is_final);
    });
}

bool Solver::fits(Mask set, Mask site, bool never_is_final, Mask held) {
    const auto [at, fresh] = known_.try_emplace({set, site, never_is_final, held}, false);
    if (!fresh) return at->second;
    skip_never_ = never_is_final;
    site_ = site;
    Mask left = 0;
    for (int p : demand_.pods)
        left |= bit(p);
    Places with = after(set, true, held);
    Places without = after(set, false, held);
    at->second = place_rest(with, without, left, demand_.min) && earlier_seats_hold(set);
    return at->second;
}

std::optional<Optimum> Solver::optimum(const Reading& reading) {
    std::optional<Optimum> best;
    const std::vector<Mask> sites = sites_of(world_, demand_, turn_.spent);
    for (Mask set : victims_.sets()) {
        for (Mask site : sites) {
            // What units are is then known only of sets that do, and a set of which somebody may stay is none.
            if (joins_ && set != 0 && !fits(set, site, reading.never_is_final)) continue;
            Optimum next{.set = set, .site = site, .price = price(set, site, reading)};
            if (best && !cheaper(next.price, best->price)) continue;
            if (!fits(set, site, reading.never_is_final)) continue;
            if (joins_ && has_idle(set, site, reading.never_is_final)) continue;
            // Nothing is cheaper than nobody.
            if (set == 0) return next;
            best = std::move(next);
        }
    }
    return best;
}

}  // namespace reprieve::worlds
