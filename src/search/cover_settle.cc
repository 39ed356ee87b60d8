// Relaxing a domain: the terms that do not add up, one after another, each with what the terms before it cost at least.
#include <algorithm>
#include <set>

#include "search/cover_search.h"

namespace reprieve {

void CoverSearch::settle_largest(Settled& settled) {
    const auto terms = owner_.rules_.order->terms();
    for (std::size_t t = 0; t < terms.size(); ++t) {
        if (CostScale::adds_up(terms[t])) continue;
        if (!scale_->holds_at(t) || terms[t] == CostTerm::kLatestStart)
            settled.bound.terms[t] = lowest_value(t, settled.states);
        else if (terms[t] == CostTerm::kQueueOrder)
            drop_queues(settle_before(t, settled), settled);
        else
            keep_lowest(settle_before(t, settled), settled);
    }
}

// Whoever costs no more than the floor before a term, and no more in that term, is made of the units that are left. If
// these weigh more than the floor, nobody does: then the floor is all that is sure.
Wide CoverSearch::least_weight(const Settled& settled, Wide weight) const {
    for (const Floor& floor : settled.floors)
        weight = std::max(weight, floor.weight);
    for (auto floor = settled.floors.rbegin(); floor != settled.floors.rend(); ++floor)
        weight = std::min(weight, floor->weight + scale_->step(floor->term) - 1);
    return weight;
}

// The least sum of the terms before this one. Where it can be had for nothing, those who would add to it are put aside.
CoverSearch::Floor CoverSearch::settle_before(std::size_t term, Settled& settled) {
    if (!before_[term]) {
        std::vector<Wide> found = scale_->weights_before(term);
        SlotCover::Shares shares = cover_->even_shares(found);
        before_[term] = Before{.weights = std::move(found), .shares = std::move(shares)};
    }
    Floor floor{.term = term, .weight = 0, .free = false};
    const std::vector<Wide>& weights = before_[term]->weights;
    const Wide gone = weight_of_gone(settled.states, weights);
    States free_of_it = settled.states;
    for (std::uint32_t u = 0; u < free_of_it.size(); ++u) {
        if (free_of_it[u] == UnitState::kOpen && weights[u] > 0) free_of_it[u] = UnitState::kStays;
    }
    floor.free = serves(free_of_it);
    floor.weight = gone;
    if (floor.free) {
        settled.states = std::move(free_of_it);
    } else if (const auto choice = cover_->cheapest(settled.states, before_[term]->shares)) {
        // A set weighs whole steps, though the relaxation may pay for part of one.
        const Wide step = scale_->step(term);
        floor.weight = (gone + choice->cost + step - 1) / step * step;
    }
    settled.floors.push_back(floor);
    return floor;
}

// Enough for the members, and the terms before no worse than they must be.
bool CoverSearch::still_serves(const States& states, const Floor& floor) {
    if (!serves(states)) return false;
    if (floor.free) return true;
    const auto choice = cover_->cheapest(states, before_[floor.term]->shares);
    return choice && weight_of_gone(states, before_[floor.term]->weights) + choice->cost <= floor.weight;
}

std::int64_t CoverSearch::lowest_value(std::size_t term, const States& states) const {
    std::int64_t lowest = INT64_MAX;
    for (std::uint32_t u = 0; u < states.size(); ++u) {
        if (states[u] != UnitState::kStays) lowest = std::min(lowest, scale_->alone(u).terms[term]);
    }
    return lowest;
}

void CoverSearch::keep_lowest(const Floor& floor, Settled& settled) {
    const std::size_t term = floor.term;
    const bool breaks = owner_.rules_.order->terms()[term] == CostTerm::kBreaksGangs;
    States& states = settled.states;
    std::vector<std::int64_t> values;  // few, though many units have them
    const auto add = [&](std::int64_t value) {
        if (std::ranges::find(values, value) == values.end()) values.push_back(value);
    };
    std::int64_t lowest = INT64_MIN;
    for (std::uint32_t u = 0; u < states.size(); ++u) {
        const std::int64_t value = scale_->alone(u).terms[term];
        if (states[u] == UnitState::kGone) lowest = std::max(lowest, value);
        if (states[u] == UnitState::kOpen) add(value);
    }
    if (lowest != INT64_MIN) add(lowest);
    std::ranges::sort(values);
    for (std::int64_t value : values) {
        if (value < lowest) continue;
        States fewer = states;
        for (std::uint32_t u = 0; u < states.size(); ++u) {
            if (states[u] == UnitState::kOpen && scale_->alone(u).terms[term] > value) fewer[u] = UnitState::kStays;
        }
        settled.bound.terms[term] = value;
        if (breaks && value == 0 && must_break(term)) continue;
        if (!still_serves(fewer, floor)) continue;
        states = std::move(fewer);
        return;
    }
}

// The dearest queue that can be left out is left out first.
void CoverSearch::drop_queues(const Floor& floor, Settled& settled) {
    const std::size_t term = floor.term;
    States& states = settled.states;
    std::set<std::int64_t, std::greater<>> values;
    for (std::uint32_t u = 0; u < states.size(); ++u) {
        if (states[u] != UnitState::kStays) values.insert(scale_->alone(u).terms[term]);
    }
    constexpr std::int64_t kBase = 4096;
    std::int64_t divisor = 1;
    std::int64_t& sum = settled.bound.terms[term];
    for (std::int64_t value : values) {
        States fewer = states;
        bool gone = false;
        for (std::uint32_t u = 0; u < states.size(); ++u) {
            if (scale_->alone(u).terms[term] != value) continue;
            gone = gone || states[u] == UnitState::kGone;
            if (states[u] == UnitState::kOpen) fewer[u] = UnitState::kStays;
        }
        if (!gone && still_serves(fewer, floor)) {
            states = std::move(fewer);
            continue;
        }
        sum += value / divisor;
        divisor = divisor > INT64_MAX / kBase ? INT64_MAX : divisor * kBase;
    }
}

}  // namespace reprieve
