// Shares by maximum flow, and with them the prices of what gangs cannot spare.
//
// For given prices the flow finds the best shares, and how much of each unit the relaxation takes. Where a gang gives
// more than it can spare, its pods become dearer, where it gives less, cheaper: a step along the gradient, as long as
// it would take to reach what the best known set weighs.
//
// A gang that goes whole takes all its pods along. So a price may be so high that what is given back for going whole is
// more than the gang's own weight: that is a bonus for all of its pods together, and what the flow takes from it for
// one of them is given back for that pod. What is left over lowers the bound. So whatever the prices, the bound is
// one: for each gang, with a price P for its pods, of which it can spare m of s, and parts B of the bonus for each pod,
// any set that keeps to the rules pays, beside its weight, P for each pod that goes, less P (s - m) for going whole,
// less m P, which is at most nothing in sum; and less B for each pod that goes, plus B for each if the gang goes whole,
// which is at most nothing as well.
#include <algorithm>

#include "search/cover_search.h"

namespace reprieve {

std::vector<SlotCover::Bonus> CoverSearch::bonuses(const States& states) const {
    std::vector<SlotCover::Bonus> out;
    for (const Spares& spares : spares_) {
        if (const Wide amount = bonus_of(spares, states); amount > 0) {
            SlotCover::Bonus& bonus = out.emplace_back(SlotCover::Bonus{.amount = amount, .units = {}});
            std::ranges::copy_if(spares.units, std::back_inserter(bonus.units), [&](std::uint32_t u) {
                return states[u] == UnitState::kOpen;
            });
        }
    }
    return out;
}

// What is given back for going whole beyond the gang's own weight.
Wide CoverSearch::bonus_of(const Spares& spares, const States& states) const {
    if (!spares.linked || states[static_cast<std::size_t>(spares.whole)] != UnitState::kOpen) return 0;
    const Wide back = spares.price * static_cast<Wide>(spares.units.size() - spares.most);
    return std::max<Wide>(0, back - weights_[static_cast<std::size_t>(spares.whole)]);
}

// Of the bonuses, what the pods that are open do not use up.
Wide CoverSearch::unpaid(const States& states) const {
    Wide sum = 0;
    for (const Spares& spares : spares_) {
        Wide left = bonus_of(spares, states);
        for (std::uint32_t u : spares.units)
            left -= left > 0 && states[u] == UnitState::kOpen ? links_[u] : 0;
        sum += std::max<Wide>(0, left);
    }
    return sum;
}

void CoverSearch::share_by_flow(const States& states, std::int64_t most_work) {
    constexpr int kTrials = 60;
    constexpr int kPatience = 3;  // trials without a better bound
    constexpr int kWholeRate = 1000;
    constexpr std::int64_t kFewestSteps = 16;  // that the work must be enough for
    const auto first = cover_->cheapest(states, shares_);
    if (!first) return;
    Wide best = first->cost - refund(states) - unpaid(states);
    Wide target = best + best / 16;
    if (!made_.empty()) {
        target = 0;
        for (std::uint32_t u : made_)
            target += weights_[u];
        target -= weight_of_gone(states, weights_);
    }
    const std::int64_t end = work() + most_work;
    std::vector<Spares> best_spares = spares_;
    std::int64_t rate = kWholeRate;
    int failed = 0;
    for (int i = 0; i < kTrials && work() < end; ++i) {
        const std::int64_t before = work();
        auto flow = cover_->flow(states, priced_weights(), bonuses(states), end - work());
        if (!flow) break;
        const auto choice = cover_->cheapest(states, flow->shares);
        if (!choice || (work() - before) * kFewestSteps > most_work) break;
        static_cast<void>(
            attempt(root_, {.cost = choice->cost, .chosen = flow->rounded, .partial = flow->between, .paid = {}}));
        const Wide bound = choice->cost - refund(states) - flow->unpaid;
        if (bound > best) {
            best = bound;
            shares_ = flow->shares;
            links_ = flow->linked;
            best_spares = spares_;
            by_flow_ = true;
            failed = 0;
        } else if (++failed % kPatience == 0) {
            rate = rate * 2 / 3;
        }
        if (!step_prices(*flow, states, std::max<Wide>(target - bound, best / 1024) / kWholeRate * rate)) break;
    }
    spares_ = std::move(best_spares);
    near_ = spares_;
}

// By a distance in weight. False: no price wants to change.
bool CoverSearch::step_prices(const SlotCover::Flow& flow, const States& states, Wide distance) {
    const auto parts_of = [&](std::uint32_t u) {
        if (states[u] == UnitState::kGone) return flow.parts;
        return states[u] == UnitState::kOpen ? flow.gone[u] : 0;
    };
    std::vector<std::int64_t> excess(spares_.size());
    Wide norm = 0;
    std::size_t bonus = 0;
    for (std::size_t g = 0; g < spares_.size(); ++g) {
        const Spares& spares = spares_[g];
        const bool has_bonus = bonus_of(spares, states) > 0;
        const std::int64_t taken = has_bonus ? flow.taken[bonus] : 0;
        bonus += has_bonus ? 1 : 0;
        if (!spares.counted) continue;
        for (std::uint32_t u : spares.units)
            excess[g] += parts_of(u);
        const auto beyond = static_cast<std::int64_t>(spares.units.size() - spares.most);
        excess[g] -= flow.parts * static_cast<std::int64_t>(spares.most);
        if (has_bonus)
            excess[g] -= taken * beyond;
        else if (spares.whole >= 0)
            excess[g] -= parts_of(static_cast<std::uint32_t>(spares.whole)) * beyond;
        if (excess[g] < 0 ? spares.price == 0 : spares.price == spares.highest) excess[g] = 0;
        norm += static_cast<Wide>(excess[g]) * excess[g];
    }
    if (norm == 0) return false;
    const Wide step = distance / norm * flow.parts;
    for (std::size_t g = 0; g < spares_.size(); ++g)
        spares_[g].price = std::clamp<Wide>(spares_[g].price + step * excess[g], 0, spares_[g].highest);
    return true;
}

void CoverSearch::relax_by_flow(const States& states, const States& decided, Relaxed& relaxed, const Known& known) {
    constexpr int kTrials = 4;
    // The prices of the step before are near; those that belong to `shares_` stay as they are.
    std::swap(spares_, near_);
    const Wide gone = weight_of_gone(states, weights_);
    Wide best = known.cost;
    for (int i = 0; i < kTrials; ++i) {
        const auto flow = cover_->flow(states, priced_weights(), bonuses(states), most_work_ - work());
        if (!flow) break;
        const auto choice = cover_->cheapest(states, flow->shares);
        if (!choice) break;
        const Wide cost = choice->cost - refund(states) - flow->unpaid;
        const SlotCover::Choice rounded{.cost = cost, .chosen = flow->rounded, .partial = flow->between, .paid = {}};
        if (i == 0 || cost > best) relaxed.choice = rounded;
        best = std::max(best, cost);
        known.write(best);
        if (i > 0) static_cast<void>(attempt(decided, rounded));
        exchange();
        if (*best_ && !(relaxed.bound < (*best_)->cost)) break;
        Wide target = best + best / 64;
        if (!made_.empty()) {
            target = -gone;
            for (std::uint32_t u : made_)
                target += weights_[u];
        }
        if (!step_prices(*flow, states, std::max<Wide>(target - cost, 0))) break;
    }
    std::swap(spares_, near_);
}

}  // namespace reprieve
