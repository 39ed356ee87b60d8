// A set of units that is enough, made cheaper by exchange: one of them stays, and the cheapest others make up for it.
#include <algorithm>

#include "search/cover_search.h"

namespace reprieve {

std::vector<std::uint32_t> CoverSearch::same_here(const GangChoice& other) const {
    std::vector<PodId> pods;
    for (std::uint32_t at : other.chosen) {
        const auto own = other.list.pods_of(other.list.units[at]);
        pods.insert(pods.end(), own.begin(), own.end());
    }
    std::ranges::sort(pods);
    const UnitList& list = owner_.list_;
    std::vector<bool> gone(list.units.size());
    std::vector<bool> stays(list.units.size());  // gangs of which somebody does
    for (std::uint32_t u = 0; u < list.units.size(); ++u) {
        gone[u] = std::ranges::all_of(list.pods_of(list.units[u]),
                                      [&](PodId pod) { return std::ranges::binary_search(pods, pod); });
        if (!gone[u] && list.units[u].whole >= 0) stays[static_cast<std::size_t>(list.units[u].whole)] = true;
    }
    std::vector<std::uint32_t> out;
    std::ranges::copy_if(
        owner_.importance_, std::back_inserter(out), [&](std::uint32_t u) { return gone[u] && !stays[u]; });
    return out;
}

void CoverSearch::exchange() {
    while (is_new_ && work() < most_work_) {
        is_new_ = false;
        std::vector<std::uint32_t> dearest_first = made_;
        std::ranges::stable_sort(dearest_first, std::greater(), [&](std::uint32_t u) { return weights_[u]; });
        for (std::uint32_t unit : dearest_first) {
            if (work() >= most_work_) return;
            if (std::ranges::find(made_, unit) != made_.end()) exchange_one(unit);
        }
    }
}

void CoverSearch::decide_anew(std::int64_t budget) {
    constexpr std::int64_t kSlice = 1500;
    constexpr std::size_t kFewest = 4;  // that are open again
    constexpr std::size_t kMost = 16;
    const std::int64_t end = work() + budget;
    std::uint64_t drawn = 1;
    const auto draw = [&](std::size_t below) {
        drawn = drawn * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
        return static_cast<std::size_t>((drawn >> 33U) % below);
    };
    for (std::size_t open = kFewest; work() < end; open = open == kMost ? kFewest : open + 2) {
        States states = root_;
        std::vector<std::uint32_t> fixed = made_;
        for (std::size_t left = open; left > 0 && !fixed.empty(); --left)
            fixed.erase(fixed.begin() + static_cast<std::ptrdiff_t>(draw(fixed.size())));
        for (std::uint32_t u : fixed)
            let_go(states, u);
        most_work_ = std::min(end, work() + kSlice);
        descend(std::move(states), owner_.bound_);
    }
}

void CoverSearch::exchange_one(std::uint32_t unit) {
    if (root_[unit] != UnitState::kOpen) return;
    States states = root_;
    for (std::uint32_t u : made_)
        states[u] = UnitState::kGone;
    // A gang stays with whoever must go with it, and then need not lose the others either.
    const std::int32_t whole = owner_.list_.units[unit].whole;
    const std::uint32_t gang = whole >= 0 ? static_cast<std::uint32_t>(whole) : unit;
    if (root_[gang] != UnitState::kOpen) return;
    if (states[gang] == UnitState::kGone) {
        for (std::uint32_t u : along_of_[gang])
            states[u] = root_[u];
    }
    states[gang] = UnitState::kStays;
    states[unit] = UnitState::kStays;
    if (!rules_.settle(states) || !keep_unspared(states) || !cover_->holds(states)) return;
    if (const auto choice = cover_->cheapest(states, whole_shares_)) static_cast<void>(attempt(states, *choice));
}

}  // namespace reprieve
