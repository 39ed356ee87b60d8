// Open splits, relaxed: each pod of a gang may go by itself, as if the gang could spare them all. Prices make that
// dear.
//
// Each pod costs so much more, what the gang can spare is given back at that price, and the gang that goes whole costs
// so much less that in sum nothing changes. Whoever keeps to what the gang can spare pays no more than before: the
// answer stays a lower bound, whatever the prices. Good ones are found by trial. In the same way whoever gives from a
// quota pays, and what the quota may lose is given back.
#include <algorithm>

#include "search/cover_search.h"

namespace reprieve {
namespace {

constexpr int kTrials = 16;
constexpr std::int64_t kWholeRate = 1000;

}  // namespace

bool CoverSearch::may_go_whole(const Spares& spares, const States& states) const {
    return spares.whole >= 0 && states[static_cast<std::size_t>(spares.whole)] != UnitState::kStays;
}

std::vector<Wide> CoverSearch::priced_weights() const {
    std::vector<Wide> out = weights_;
    for (const Spares& spares : spares_) {
        for (std::uint32_t u : spares.units)
            out[u] += spares.price;
        if (spares.whole < 0) continue;
        Wide& whole = out[static_cast<std::size_t>(spares.whole)];
        whole = std::max<Wide>(0, whole - spares.price * static_cast<Wide>(spares.units.size() - spares.most));
    }
    rules_.add_prices(out);
    return out;
}

// What those give back who could go alone and are still open.
Wide CoverSearch::refund(const States& states) const {
    Wide sum = rules_.refund(states);
    for (const Spares& spares : spares_) {
        if (spares.whole >= 0 && states[static_cast<std::size_t>(spares.whole)] == UnitState::kGone) continue;
        const auto gone =
            std::ranges::count_if(spares.units, [&](std::uint32_t u) { return states[u] == UnitState::kGone; });
        sum += spares.price * (static_cast<Wide>(spares.most) - gone);
    }
    return sum;
}

// Dearer where a gang gives more than it can spare, cheaper where it gives less.
void CoverSearch::adjust_prices(const SlotCover::Choice& choice, const States& states, std::int64_t rate) {
    const auto goes = [&](std::uint32_t u) {
        return states[u] == UnitState::kGone || std::ranges::binary_search(choice.chosen, u);
    };
    for (Spares& spares : spares_) {
        if (!spares.counted) continue;
        const auto beyond = static_cast<Wide>(spares.units.size() - spares.most);
        Wide excess = std::ranges::count_if(spares.units, goes) - static_cast<Wide>(spares.most);
        if (spares.whole >= 0 && goes(static_cast<std::uint32_t>(spares.whole))) excess -= beyond;
        const Wide step = spares.most_price / kWholeRate * rate / beyond * excess;
        spares.price = std::clamp<Wide>(spares.price + step, 0, spares.most_price);
    }
    if (rules_.empty()) return;
    std::vector<bool> gone(states.size());
    for (std::uint32_t u = 0; u < states.size(); ++u)
        gone[u] = goes(u);
    rules_.adjust_prices(gone, rate);
}

void CoverSearch::set_prices() {
    if (spares_.empty() && !rules_.priced()) return;
    const Wide dearest = *std::ranges::max_element(weights_);
    rules_.limit_prices(weights_, CostScale::kMostWeight);
    for (Spares& spares : spares_) {
        if (!spares.counted) continue;
        const Wide whole = spares.whole >= 0 ? weights_[static_cast<std::size_t>(spares.whole)] : dearest;
        const Wide safe = CostScale::kMostWeight / static_cast<Wide>(spares_.size() * spares.units.size());
        spares.most_price = std::min(whole / static_cast<Wide>(spares.units.size() - spares.most), safe);
        spares.linked = spares.whole >= 0 && !cover_->has_place(static_cast<std::uint32_t>(spares.whole));
        spares.highest = spares.linked || spares.whole < 0 ? std::min(dearest, safe) : spares.most_price;
    }
    Settled settled{.states = root_, .bound = {}, .floors = {}};
    if (!keep_unspared(settled.states) || !cover_->holds(settled.states)) return;
    settle_largest(settled);
    std::vector<Spares> best = spares_;
    GiveRules best_rules = rules_;
    Wide most = 0;
    std::int64_t rate = kWholeRate;
    for (int i = 0; i < kTrials; ++i, rate = rate * 7 / 8) {
        const auto choice = cover_->cheapest(settled.states, cover_->even_shares(priced_weights()));
        if (!choice) return;
        if (const Wide bound = choice->cost - refund(settled.states); bound > most) {
            most = bound;
            best = spares_;
            best_rules = rules_;
        }
        adjust_prices(*choice, settled.states, rate);
    }
    spares_ = std::move(best);
    rules_ = std::move(best_rules);
}

bool CoverSearch::must_break(std::size_t term) {
    if (!must_break_) {
        States without = root_;
        for (std::uint32_t u = 0; u < without.size(); ++u) {
            if (without[u] == UnitState::kOpen && scale_->alone(u).terms[term] > 0) without[u] = UnitState::kStays;
        }
        must_break_ = cover_->holds(without) && overdraws_always(without);
    }
    return *must_break_;
}

// Whether gangs that do not go whole must give more than they can spare for the members to fit: every choice of pods
// weighs more than all that can be spared, if each pod weighs something and the sparable ones are counted at that
// weight.
bool CoverSearch::overdraws_always(const States& states) {
    std::vector<const Spares*> bound;
    for (const Spares& spares : spares_) {
        if (spares.counted && !may_go_whole(spares, states)) bound.push_back(&spares);
    }
    if (bound.empty()) return false;
    std::vector<Wide> each(bound.size(), kWholeRate);
    for (int i = 0; i < kTrials / 2; ++i) {
        std::vector<Wide> weights(weights_.size());
        Wide spared = 0;
        for (std::size_t g = 0; g < bound.size(); ++g) {
            const auto gone =
                std::ranges::count_if(bound[g]->units, [&](std::uint32_t u) { return states[u] == UnitState::kGone; });
            spared += each[g] * (static_cast<Wide>(bound[g]->most) - gone);
            for (std::uint32_t u : bound[g]->units)
                weights[u] = each[g];
        }
        const auto choice = cover_->cheapest(states, cover_->even_shares(weights));
        if (!choice) return false;
        if (choice->cost > spared) return true;
        for (std::size_t g = 0; g < bound.size(); ++g) {
            const auto taken = std::ranges::count_if(
                bound[g]->units, [&](std::uint32_t u) { return std::ranges::binary_search(choice->chosen, u); });
            // A gang that is asked for less than it has gives the others the say.
            each[g] = taken > static_cast<std::ptrdiff_t>(bound[g]->most) ? each[g] * 3 / 2 : each[g] * 3 / 4;
        }
    }
    return false;
}

}  // namespace reprieve
