#include "search/slot_cover.h"

#include <algorithm>

namespace reprieve {
namespace {

constexpr std::size_t kMostGifts = 64;
constexpr std::size_t kMostPartials = 1024;
constexpr std::int64_t kLooksPerPlace = 8;
constexpr Wide kNever = static_cast<Wide>(INT64_MAX) << 62U;  // more than all sums of weights

}  // namespace

SlotCover::SlotCover(const Room& ask, std::int64_t wanted, std::vector<Place> places, std::size_t units)
    : ask_(ask),
      wanted_(wanted),
      places_(std::move(places)),
      places_of_(units),
      first_share_(units),
      shelves_(places_.size()) {
    for (std::size_t d = 0; d < kMostDims; ++d)
        dims_ = ask_[d] > 0 ? d + 1 : dims_;
    for (std::uint32_t p = 0; p < places_.size(); ++p) {
        overflowed_ = overflowed_ || places_[p].gifts.size() > kMostGifts;
        for (std::uint32_t g = 0; g < places_[p].gifts.size(); ++g)
            places_of_[places_[p].gifts[g].unit].push_back({.place = p, .gift = g});
    }
    for (std::size_t u = 0; u < units; ++u) {
        first_share_[u] = share_count_;
        for (const Where& where : places_of_[u])
            places_[where.place].gifts[where.gift].share = share_count_++;
    }
}

std::int64_t SlotCover::slots(const Room& room) const {
    std::int64_t most = wanted_;
    for (std::size_t d = 0; d < dims_; ++d) {
        if (ask_[d] > 0) most = std::min(most, room[d] < ask_[d] ? 0 : room[d] / ask_[d]);
    }
    return most;
}

SlotCover::Room SlotCover::emptied(const Place& place, std::span<const UnitState> states, bool open_too) const {
    Room room = place.free;
    for (const Gift& gift : place.gifts) {
        const UnitState state = states[gift.unit];
        if (state == UnitState::kStays || (state == UnitState::kOpen && !open_too)) continue;
        for (std::size_t d = 0; d < dims_; ++d)
            room[d] += gift.room[d];
    }
    return room;
}

SlotCover::Decided SlotCover::decided_on(const Place& place, std::span<const UnitState> states) {
    Decided out;
    for (std::size_t g = 0; g < place.gifts.size(); ++g) {
        const UnitState state = states[place.gifts[g].unit];
        out.open |= std::uint64_t{state == UnitState::kOpen} << g;
        out.gone |= std::uint64_t{state == UnitState::kGone} << g;
    }
    return out;
}

SlotCover::Range SlotCover::range_of(std::size_t at, const Decided& decided, std::span<const UnitState> states) {
    ++looks_;
    Shelf& shelf = shelves_[at];
    for (const KeptRange& kept : shelf.ranges) {
        if (kept.known && kept.decided == decided) return kept.range;
    }
    looks_ += kLooksPerPlace;
    KeptRange& kept = shelf.ranges[shelf.next_range];
    shelf.next_range = (shelf.next_range + 1) % Shelf::kMost;
    const Place& place = places_[at];
    kept = {.known = true,
            .decided = decided,
            .range = {.least = slots(emptied(place, states, false)), .most = slots(emptied(place, states, true))}};
    return kept.range;
}

bool SlotCover::holds(std::span<const UnitState> states) {
    std::int64_t total = 0;
    for (std::size_t p = 0; p < places_.size(); ++p) {
        total += range_of(p, decided_on(places_[p], states), states).most;
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
        for (std::size_t d = 0; d < cover_.dims_; ++d)
            room[d] += sign * gift[d];
        total_ += cover_.slots(room);
    }
}

SlotCover::Shares SlotCover::even_shares(std::span<const Wide> weights) {
    Shares out{.weights = std::vector<Wide>(share_count_), .version = ++versions_};
    for (std::size_t u = 0; u < weights.size(); ++u) {
        const std::size_t count = places_of_[u].size();
        if (count == 0) continue;
        Wide* mine = &out.weights[first_share_[u]];
        std::fill_n(mine, count, weights[u] / static_cast<Wide>(count));
        *mine += weights[u] % static_cast<Wide>(count);
    }
    return out;
}

SlotCover::Shares SlotCover::whole_shares(std::span<const Wide> weights) {
    Shares out{.weights = std::vector<Wide>(share_count_), .version = ++versions_};
    const Wide most = kNever / 2 / (static_cast<Wide>(share_count_) + 1);
    for (std::size_t u = 0; u < weights.size(); ++u)
        std::fill_n(out.weights.begin() + first_share_[u], places_of_[u].size(), std::min(weights[u], most));
    return out;
}

// Where a unit is paid for in part, weight moves from the places that did without it to those that took it.
void SlotCover::tune(std::span<const UnitState> states, Shares& shares, int trials) {
    auto last = cheapest(states, shares);
    if (!last) return;
    Wide best = last->cost;
    Shares trial = shares;
    std::vector<bool> took;
    for (int i = 0; i < trials && !last->partial.empty(); ++i) {
        took.assign(share_count_, false);
        for (std::uint32_t share : last->paid)
            took[share] = true;
        for (std::uint32_t unit : last->partial) {
            const std::size_t first = first_share_[unit];
            const std::size_t end = first + places_of_[unit].size();
            Wide moved = 0;
            Wide takers = 0;
            for (std::size_t p = first; p < end; ++p) {
                const Wide part = took[p] ? 0 : trial.weights[p] / 4;
                trial.weights[p] -= part;
                moved += part;
                takers += took[p] ? 1 : 0;
            }
            for (std::size_t p = first; p < end; ++p)
                trial.weights[p] += took[p] ? moved / takers : 0;
        }
        trial.version = ++versions_;
        last = cheapest(states, trial);
        if (!last) return;
        if (last->cost <= best) continue;
        best = last->cost;
        shares = trial;
    }
}

const SlotCover::Menu& SlotCover::menu_of(std::size_t at,
                                          const Decided& decided,
                                          std::span<const UnitState> states,
                                          const Shares& shares) {
    Shelf& shelf = shelves_[at];
    for (const KeptMenu& kept : shelf.menus) {
        if (kept.version == shares.version && kept.decided == decided) return kept.menu;
    }
    looks_ += kLooksPerPlace;
    KeptMenu& kept = shelf.menus[shelf.next_menu];
    shelf.next_menu = (shelf.next_menu + 1) % Shelf::kMost;
    kept.version = shares.version;
    kept.decided = decided;
    write_menu(places_[at], range_of(at, decided, states), states, shares, kept.menu);
    return kept.menu;
}

void SlotCover::write_menu(
    const Place& place, const Range& range, std::span<const UnitState> states, const Shares& shares, Menu& menu) {
    const Room before = emptied(place, states, false);
    const std::int64_t base = range.least;
    const std::int64_t most = range.most;
    menu.assign(1, {.room = before});
    // More room than the most members need is as good as just that.
    Room enough{};
    for (std::size_t d = 0; d < dims_; ++d)
        enough[d] = ask_[d] * most;
    const auto cut = [&](Room& room) {
        for (std::size_t d = 0; d < dims_; ++d)
            room[d] = std::min(room[d], enough[d]);
    };
    partials_.assign(1, {.room = before});
    cut(partials_.front().room);
    for (std::size_t g = 0; g < place.gifts.size(); ++g) {
        const Gift& gift = place.gifts[g];
        if (states[gift.unit] != UnitState::kOpen) continue;
        const Wide price = shares.weights[gift.share];
        looks_ += static_cast<std::int64_t>(partials_.size());
        more_.clear();
        for (const Partial& partial : partials_) {
            Partial next = partial;
            for (std::size_t d = 0; d < dims_; ++d)
                next.room[d] += gift.room[d];
            cut(next.room);
            next.cost += price;
            next.gifts |= std::uint64_t{1} << g;
            if (next.room != partial.room) more_.push_back(next);
        }
        for (const Partial& next : more_) {
            const auto same = std::ranges::find(partials_, next.room, &Partial::room);
            if (same == partials_.end())
                partials_.push_back(next);
            else if (next.cost < same->cost)
                *same = next;
        }
        if (partials_.size() > kMostPartials) {
            overflowed_ = true;
            return;
        }
    }
    menu.resize(static_cast<std::size_t>(most - base) + 1);
    std::vector<bool> found(menu.size());
    for (const Partial& partial : partials_) {
        // Whoever makes room for more makes room for fewer.
        for (std::int64_t gain = slots(partial.room) - base; gain > 0; --gain) {
            const auto slot = static_cast<std::size_t>(gain);
            if (found[slot] && menu[slot].cost <= partial.cost) continue;
            menu[slot] = partial;
            found[slot] = true;
        }
    }
}

std::optional<SlotCover::Choice> SlotCover::cheapest(std::span<const UnitState> states, const Shares& shares) {
    std::int64_t missing = wanted_;
    std::vector<std::pair<std::size_t, const Menu*>> menus;  // of places where something can be gained
    for (std::size_t p = 0; p < places_.size(); ++p) {
        const Decided decided = decided_on(places_[p], states);
        const Range range = range_of(p, decided, states);
        missing -= range.least;
        if (range.most > range.least) menus.emplace_back(p, &menu_of(p, decided, states, shares));
    }
    if (overflowed_) return std::nullopt;
    if (missing <= 0) return Choice{};
    const auto size = static_cast<std::size_t>(missing) + 1;
    std::vector<Wide> least(size, kNever);
    least[0] = 0;
    std::vector<std::uint16_t> pick(menus.size() * size);
    std::size_t reached = 0;
    looks_ += static_cast<std::int64_t>(pick.size()) / 8;
    for (std::size_t m = 0; m < menus.size(); ++m) {
        const Menu& best = *menus[m].second;
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
        const std::vector<Gift>& gifts = places_[menus[m].first].gifts;
        for (std::size_t g = 0; g < gifts.size(); ++g) {
            if (((*menus[m].second)[gain].gifts >> g & 1U) == 0) continue;
            out.paid.push_back(gifts[g].share);
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
