#include "search/slot_cover.h"

#include <algorithm>

namespace reprieve {
namespace {

constexpr std::size_t kMostGifts = 64;
constexpr std::size_t kMostPartials = 1024;
constexpr std::int64_t kLooksPerPlace = 8;

}  // namespace

SlotCover::SlotCover(const Room& ask, std::int64_t wanted, std::vector<Place> places, std::size_t units)
    : ask_(ask),
      wanted_(wanted),
      places_(std::move(places)),
      places_of_(units) {
    for (std::uint32_t p = 0; p < places_.size(); ++p) {
        overflowed_ = overflowed_ || places_[p].gifts.size() > kMostGifts;
        for (std::uint32_t g = 0; g < places_[p].gifts.size(); ++g) {
            Gift& gift = places_[p].gifts[g];
            gift.share = static_cast<std::uint32_t>(places_of_[gift.unit].size());
            places_of_[gift.unit].push_back({.place = p, .gift = g});
        }
    }
}

std::int64_t SlotCover::slots(const Room& room) const {
    std::int64_t most = wanted_;
    for (std::size_t d = 0; d < kMostDims; ++d) {
        if (ask_[d] > 0) most = std::min(most, room[d] < ask_[d] ? 0 : room[d] / ask_[d]);
    }
    return most;
}

SlotCover::Room SlotCover::emptied(const Place& place, std::span<const UnitState> states, bool open_too) const {
    Room room = place.free;
    for (const Gift& gift : place.gifts) {
        const UnitState state = states[gift.unit];
        if (state == UnitState::kStays || (state == UnitState::kOpen && !open_too)) continue;
        for (std::size_t d = 0; d < kMostDims; ++d)
            room[d] += gift.room[d];
    }
    return room;
}

bool SlotCover::holds(std::span<const UnitState> states) const {
    std::int64_t total = 0;
    for (const Place& place : places_) {
        total += slots(emptied(place, states, true));
        if (total >= wanted_) return true;
    }
    return false;
}

std::vector<std::int64_t> SlotCover::gifts_of(std::uint32_t unit) const {
    std::vector<std::int64_t> out;
    for (const Where& where : places_of_[unit]) {
        const Room& room = places_[where.place].gifts[where.gift].room;
        out.push_back(where.place);
        out.insert(out.end(), room.begin(), room.end());
    }
    return out;
}

SlotCover::Count::Count(const SlotCover& cover) : cover_(cover) {
    for (const Place& place : cover.places_) {
        rooms_.push_back(place.free);
        total_ += cover.slots(place.free);
    }
}

void SlotCover::Count::change(std::uint32_t unit, std::int64_t sign) {
    for (const Where& where : cover_.places_of_[unit]) {
        const Room& gift = cover_.places_[where.place].gifts[where.gift].room;
        Room& room = rooms_[where.place];
        total_ -= cover_.slots(room);
        for (std::size_t d = 0; d < kMostDims; ++d)
            room[d] += sign * gift[d];
        total_ += cover_.slots(room);
    }
}

SlotCover::Shares SlotCover::even_shares(std::span<const Wide> weights) const {
    Shares out(weights.size());
    for (std::size_t u = 0; u < weights.size(); ++u) {
        const std::size_t count = places_of_[u].size();
        if (count == 0) continue;
        out[u].assign(count, weights[u] / static_cast<Wide>(count));
        out[u].front() += weights[u] % static_cast<Wide>(count);
    }
    return out;
}

// Where a unit is paid for in part, weight moves from the places that did without it to those that took it.
void SlotCover::tune(std::span<const UnitState> states, Shares& shares, int trials) {
    auto last = cheapest(states, shares);
    if (!last) return;
    Wide best = last->cost;
    Shares trial = shares;
    for (int i = 0; i < trials && !last->partial.empty(); ++i) {
        for (std::uint32_t unit : last->partial) {
            std::vector<Wide>& mine = trial[unit];
            std::vector<bool> took(mine.size());
            for (const auto& [u, share] : last->paid) {
                if (u == unit) took[share] = true;
            }
            Wide moved = 0;
            for (std::size_t p = 0; p < mine.size(); ++p) {
                const Wide part = took[p] ? 0 : mine[p] / 4;
                mine[p] -= part;
                moved += part;
            }
            const auto takers = static_cast<Wide>(std::ranges::count(took, true));
            for (std::size_t p = 0; p < mine.size(); ++p)
                mine[p] += took[p] ? moved / takers : 0;
        }
        last = cheapest(states, trial);
        if (!last) return;
        if (last->cost <= best) continue;
        best = last->cost;
        shares = trial;
    }
}

SlotCover::Menu SlotCover::menu_of(std::size_t at, std::span<const UnitState> states, const Shares& shares) {
    const Place& place = places_[at];
    looks_ += kLooksPerPlace;
    const Room before = emptied(place, states, false);
    const std::int64_t base = slots(before);
    const std::int64_t most = slots(emptied(place, states, true));
    Menu menu{.place = at, .best = {{.room = before}}};
    if (most == base) return menu;
    // More room than the most members need is as good as just that.
    Room enough{};
    for (std::size_t d = 0; d < kMostDims; ++d)
        enough[d] = ask_[d] * most;
    const auto cut = [&](Room room) {
        for (std::size_t d = 0; d < kMostDims; ++d)
            room[d] = std::min(room[d], enough[d]);
        return room;
    };
    std::vector<Partial> partials{{.room = cut(before)}};
    for (std::size_t g = 0; g < place.gifts.size(); ++g) {
        const Gift& gift = place.gifts[g];
        if (states[gift.unit] != UnitState::kOpen) continue;
        const Wide price = shares[gift.unit][gift.share];
        looks_ += static_cast<std::int64_t>(partials.size());
        std::vector<Partial> more;
        for (const Partial& partial : partials) {
            Partial next = partial;
            for (std::size_t d = 0; d < kMostDims; ++d)
                next.room[d] += gift.room[d];
            next.room = cut(next.room);
            next.cost += price;
            next.gifts |= std::uint64_t{1} << g;
            if (next.room != partial.room) more.push_back(next);
        }
        for (const Partial& next : more) {
            const auto same = std::ranges::find(partials, next.room, &Partial::room);
            if (same == partials.end())
                partials.push_back(next);
            else if (next.cost < same->cost)
                *same = next;
        }
        if (partials.size() > kMostPartials) {
            overflowed_ = true;
            return menu;
        }
    }
    menu.best.resize(static_cast<std::size_t>(most - base) + 1);
    std::vector<bool> found(menu.best.size());
    for (const Partial& partial : partials) {
        // Whoever makes room for more makes room for fewer.
        for (std::int64_t gain = slots(partial.room) - base; gain > 0; --gain) {
            const auto slot = static_cast<std::size_t>(gain);
            if (found[slot] && menu.best[slot].cost <= partial.cost) continue;
            menu.best[slot] = partial;
            found[slot] = true;
        }
    }
    return menu;
}

std::optional<SlotCover::Choice> SlotCover::cheapest(std::span<const UnitState> states, const Shares& shares) {
    std::int64_t missing = wanted_;
    std::vector<Menu> menus;
    for (std::size_t p = 0; p < places_.size(); ++p) {
        Menu menu = menu_of(p, states, shares);
        missing -= slots(menu.best.front().room);
        if (menu.best.size() > 1) menus.push_back(std::move(menu));
    }
    if (overflowed_) return std::nullopt;
    if (missing <= 0) return Choice{};
    const auto size = static_cast<std::size_t>(missing) + 1;
    constexpr Wide kNever = static_cast<Wide>(INT64_MAX) << 62U;
    std::vector<Wide> least(size, kNever);
    least[0] = 0;
    std::vector<std::uint16_t> pick(menus.size() * size);
    std::size_t reached = 0;
    for (std::size_t m = 0; m < menus.size(); ++m) {
        const std::vector<Partial>& best = menus[m].best;
        reached = std::min(reached + best.size() - 1, size - 1);
        for (std::size_t j = reached; j > 0; --j) {
            for (std::size_t gain = 1; gain < best.size(); ++gain) {
                const Wide before = least[j > gain ? j - gain : 0];
                if (before >= kNever || before + best[gain].cost >= least[j]) continue;
                least[j] = before + best[gain].cost;
                pick[m * size + j] = static_cast<std::uint16_t>(gain);
            }
        }
    }
    if (least[size - 1] >= kNever) return std::nullopt;
    Choice out{.cost = least[size - 1], .chosen = {}, .partial = {}, .paid = {}};
    std::vector<std::uint32_t> times(places_of_.size());
    std::size_t left = size - 1;
    for (std::size_t m = menus.size(); m-- > 0;) {
        const std::size_t gain = pick[m * size + left];
        if (gain == 0) continue;
        const std::vector<Gift>& gifts = places_[menus[m].place].gifts;
        for (std::size_t g = 0; g < gifts.size(); ++g) {
            if ((menus[m].best[gain].gifts >> g & 1U) == 0) continue;
            out.paid.emplace_back(gifts[g].unit, gifts[g].share);
            if (times[gifts[g].unit]++ == 0) out.chosen.push_back(gifts[g].unit);
        }
        left = left > gain ? left - gain : 0;
    }
    std::ranges::sort(out.chosen);
    for (std::uint32_t unit : out.chosen) {
        if (times[unit] < places_of_[unit].size()) out.partial.push_back(unit);
    }
    return out;
}

}  // namespace reprieve
