// The cover's shares by maximum flow.
#include <algorithm>

#include "search/share_flow.h"
#include "search/slot_cover.h"

namespace reprieve {
namespace {

constexpr std::int64_t kLooksPerWork = 64;  // at edges, in about a microsecond

}  // namespace

struct SlotCover::Needs {
    std::vector<ShareFlow::Slot> slots;  // those of places first, then bonuses
    std::size_t of_places = 0;
    std::vector<std::uint32_t> units;    // needed, by slot: places in `open`
    std::vector<std::uint32_t> shares;   // of the same, for slots of places
    std::vector<std::uint32_t> open;     // units
    std::vector<std::int32_t> place_of;  // of each unit, in `open`; -1: none
    // As the flow chose.
    std::vector<bool> surely;
    std::vector<bool> perhaps;

    void need(std::uint32_t unit) {
        if (place_of[unit] < 0) {
            place_of[unit] = static_cast<std::int32_t>(open.size());
            open.push_back(unit);
        }
        units.push_back(static_cast<std::uint32_t>(place_of[unit]));
    }
    [[nodiscard]] std::span<const std::uint32_t> units_of(std::size_t slot) const {
        return std::span(units).subspan(slots[slot].first, slots[slot].count);
    }
};

// A gift without which a place holds fewer members is needed for one more than it holds then. Returns the members that
// are missing.
std::int64_t SlotCover::list_needs(std::span<const UnitState> states, Needs& out) {
    std::int64_t missing = wanted_;
    out.place_of.assign(places_of_.size(), -1);
    std::vector<std::pair<std::int64_t, std::uint32_t>> needed;  // members without it, gift
    for (std::size_t p = 0; p < places_.size(); ++p) {
        const Place& place = places_[p];
        const Range range = range_of(p, decided_on(place, states), states);
        missing -= range.least;
        if (range.most == range.least) continue;
        looks_ += static_cast<std::int64_t>(place.gifts.size());
        const Room empty = emptied(place, states, true);
        needed.clear();
        for (std::uint32_t g = 0; g < place.gifts.size(); ++g) {
            const Gift& gift = place.gifts[g];
            if (states[gift.unit] != UnitState::kOpen) continue;
            Room without = empty;
            for (std::size_t d = 0; d < dims_; ++d)
                without[d] -= gift.room[d];
            if (const std::int64_t left = slots(without); left < range.most) needed.emplace_back(left, g);
        }
        std::ranges::sort(needed);
        auto next = needed.begin();
        for (std::int64_t slot = range.least; slot < range.most; ++slot) {
            const auto first = static_cast<std::uint32_t>(out.units.size());
            for (; next != needed.end() && next->first <= slot; ++next) {
                out.need(place.gifts[next->second].unit);
                out.shares.push_back(place.gifts[next->second].share);
            }
            const auto before = static_cast<std::int32_t>(out.slots.size()) - 1;
            out.slots.push_back({.before = slot == range.least ? -1 : before,
                                 .first = first,
                                 .count = static_cast<std::uint32_t>(out.units.size()) - first});
        }
    }
    out.of_places = out.slots.size();
    return missing;
}

std::optional<SlotCover::Flow> SlotCover::flow(std::span<const UnitState> states,
                                               std::span<const Wide> weights,
                                               std::span<const Bonus> bonuses,
                                               std::int64_t most_work) {
    Needs needs;
    const std::int64_t missing = list_needs(states, needs);
    if (missing <= 0 || missing > std::ssize(needs.slots) || overflowed_) return std::nullopt;
    Flow out;
    for (const Bonus& bonus : bonuses) {
        const auto first = static_cast<std::uint32_t>(needs.units.size());
        for (std::uint32_t unit : bonus.units)
            needs.need(unit);
        needs.slots.push_back({.first = first,
                               .count = static_cast<std::uint32_t>(bonus.units.size()),
                               .is_bonus = true,
                               .bonus = bonus.amount});
        out.unpaid += bonus.amount;
    }
    std::vector<Wide> own;
    for (std::uint32_t unit : needs.open)
        own.push_back(std::max<Wide>(weights[unit], 0));
    ShareFlow flow(needs.slots, needs.units, std::move(own));
    const bool solved = flow.solve(missing, most_work * kLooksPerWork);
    looks_ += flow.looks() * 16 / kLooksPerWork;
    if (!solved) return std::nullopt;
    share(needs, weights, flow.paid(), out);
    needs.surely = flow.surely();
    needs.perhaps = flow.perhaps();
    round(needs, weights, missing, out);
    return out;
}

// What nobody pays for is divided evenly.
void SlotCover::share(const Needs& needs, std::span<const Wide> weights, std::span<const Wide> paid, Flow& out) {
    out.shares = {.weights = std::vector<Wide>(share_count_), .version = ++versions_};
    out.linked.resize(places_of_.size());
    for (std::size_t n = 0; n < paid.size(); ++n) {
        if (n < needs.shares.size()) {
            out.shares.weights[needs.shares[n]] += paid[n];
        } else {
            out.linked[needs.open[needs.units[n]]] += paid[n];
            out.unpaid -= paid[n];
        }
    }
    for (std::size_t u = 0; u < places_of_.size(); ++u) {
        const std::size_t count = places_of_[u].size();
        if (count == 0) continue;
        const auto mine = std::span(out.shares.weights).subspan(first_share_[u], count);
        Wide rest = weights[u] - out.linked[u];
        for (Wide share : mine)
            rest -= share;
        for (Wide& share : mine)
            share += rest / static_cast<Wide>(count);
        mine.front() += rest % static_cast<Wide>(count);
    }
}

// The slots that are surely worth it, and of the others one after another the one that adds least.
void SlotCover::round(const Needs& needs, std::span<const Wide> weights, std::int64_t missing, Flow& out) {
    std::vector<bool> goes(needs.open.size());
    std::vector<bool> may_go(needs.open.size());
    std::int64_t sure = 0;
    std::int64_t possible = 0;
    for (std::size_t s = 0; s < needs.slots.size(); ++s) {
        if (s < needs.of_places) {
            sure += needs.surely[s] ? 1 : 0;
            possible += needs.perhaps[s] ? 1 : 0;
        }
        for (std::uint32_t u : needs.units_of(s)) {
            goes[u] = goes[u] || needs.surely[s];
            may_go[u] = may_go[u] || needs.perhaps[s];
        }
    }
    out.parts = std::max<std::int64_t>(possible - sure, 1);
    const std::int64_t part = std::min(missing - sure, out.parts);
    const auto parts_of = [&](bool surely, bool perhaps) {
        if (surely) return out.parts;
        return perhaps ? part : 0;
    };
    out.gone.resize(places_of_.size());
    for (std::size_t u = 0; u < goes.size(); ++u) {
        out.gone[needs.open[u]] = parts_of(goes[u], may_go[u]);
        if (!goes[u] && may_go[u]) out.between.push_back(needs.open[u]);
    }
    for (std::size_t s = needs.of_places; s < needs.slots.size(); ++s)
        out.taken.push_back(parts_of(needs.surely[s], needs.perhaps[s]));
    const auto added = [&](std::size_t s) {
        Wide sum = 0;
        for (std::uint32_t u : needs.units_of(s))
            sum += goes[u] ? 0 : weights[needs.open[u]] - out.linked[needs.open[u]];
        return sum;
    };
    std::vector<bool> chosen = needs.surely;
    for (; sure < missing; ++sure) {
        std::optional<std::size_t> best;
        Wide least = 0;
        looks_ += static_cast<std::int64_t>(needs.of_places);
        for (std::size_t s = 0; s < needs.of_places; ++s) {
            const std::int32_t before = needs.slots[s].before;
            if (chosen[s] || !needs.perhaps[s] || (before >= 0 && !chosen[static_cast<std::size_t>(before)])) continue;
            const Wide sum = added(s);
            if (best && sum >= least) continue;
            best = s;
            least = sum;
        }
        if (!best) break;
        chosen[*best] = true;
        for (std::uint32_t u : needs.units_of(*best))
            goes[u] = true;
    }
    for (std::size_t u = 0; u < goes.size(); ++u) {
        if (goes[u]) out.rounded.push_back(needs.open[u]);
    }
    std::ranges::sort(out.rounded);
    std::ranges::sort(out.between);
}

}  // namespace reprieve
