#include "search/domain_contest.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace reprieve {
namespace {

constexpr std::size_t kNodesPerBudget = 16;
constexpr std::size_t kMostBudgets = 16;
constexpr std::int64_t kPartForFirstLook = 4;

std::vector<PodId> pods_of(const GangChoice& choice) {
    std::vector<PodId> out;
    for (std::uint32_t u : choice.chosen)
        std::ranges::copy(choice.list.pods_of(choice.list.units[u]), std::back_inserter(out));
    std::ranges::sort(out);
    return out;
}

}  // namespace

void DomainContest::enter(std::unique_ptr<GangVictims> victims) {
    (victims->too_small() ? any_too_small_ : any_large_) = true;
    if (victims->feasible()) {
        nodes_ += victims->node_count();
        const Cost bound = victims->bound();
        entrants_.push_back({.victims = std::move(victims), .bound = bound});
        return;
    }
    note_why(*victims);
    if (!victims->proven_none()) uncertain_.push_back(victims->bound());
}

// Who stays and why says nothing about a domain that is too small: another one is told of, if there is one.
void DomainContest::note_why(const GangVictims& victims) {
    if (victims.binding().empty()) return;
    if (!why_not_.empty() && (!why_too_small_ || victims.too_small())) return;
    why_not_ = victims.binding();
    why_too_small_ = victims.too_small();
}

void DomainContest::defend(GangChoice choice, const std::optional<Cost>& runner_up) {
    best_ = std::move(choice);
    lost(runner_up);
}

bool DomainContest::may_be_cheaper(const Entrant& entrant) const {
    return !entrant.ruled_out && (!best_ || entrant.bound < best_->cost);
}

std::optional<GangChoice> DomainContest::run() {
    const std::size_t budgets = std::clamp<std::size_t>(nodes_ / kNodesPerBudget, 1, kMostBudgets);
    left_ = rules_.budget * static_cast<std::int64_t>(budgets);
    std::ranges::stable_sort(entrants_, {}, &Entrant::bound);
    look_once();
    if (rules_.improve) look_again();
    if (!best_) {
        const auto proven = static_cast<std::size_t>(std::ranges::count_if(entrants_, &Entrant::ruled_out));
        if (uncertain_.empty() && proven == entrants_.size() && rules_.improve)
            none_ = Proof::every_part(entrants_.size(), proven);
        return std::nullopt;
    }
    std::vector<Cost> bounds = uncertain_;
    for (const Entrant& entrant : entrants_) {
        if (!entrant.ruled_out) bounds.push_back(entrant.bound);
    }
    bound_ = bounds.empty() ? best_->cost : std::ranges::min(bounds);
    if (!runner_up_) look_for_runner_up();
    return std::move(best_);
}

void DomainContest::look_once() {
    const std::int64_t all = entrants_.size() == 1 ? left_ : left_ / kPartForFirstLook;
    const auto live = static_cast<std::int64_t>(std::max<std::size_t>(entrants_.size(), 1));
    std::size_t tried = 0;
    for (Entrant& entrant : entrants_) {
        entrant.left_out = tried == rules_.max_domains || (best_ && (!rules_.improve || !may_be_cheaper(entrant)));
        if (entrant.left_out) continue;
        std::optional<GangChoice> choice = entrant.victims->find(all / live, best_ ? &best_->cost : nullptr);
        left_ -= entrant.victims->spent();
        challenge(entrant, std::move(choice));
        // Where nothing can be had, nobody was looked at for long.
        tried += rules_.improve && entrant.ruled_out ? 0 : 1;
    }
}

// Those with the lowest bounds first; each gets its part of what is left.
void DomainContest::look_again() {
    std::vector<Entrant*> open;
    for (Entrant& entrant : entrants_) {
        if (!entrant.left_out && may_be_cheaper(entrant)) open.push_back(&entrant);
    }
    if (entrants_.size() == 1) return;  // it had everything
    std::ranges::stable_sort(open, {}, &Entrant::bound);
    for (std::size_t i = 0; i < open.size() && left_ > 0; ++i) {
        if (!may_be_cheaper(*open[i])) continue;
        const auto others = static_cast<std::int64_t>(
            std::ranges::count_if(std::span(open).subspan(i), [&](const Entrant* e) { return may_be_cheaper(*e); }));
        std::optional<GangChoice> choice =
            open[i]->victims->find_cheaper(left_ / std::min<std::int64_t>(others, 2), best_ ? &best_->cost : nullptr);
        left_ -= open[i]->victims->spent();
        challenge(*open[i], std::move(choice));
    }
}

void DomainContest::lost(const std::optional<Cost>& cost) {
    if (cost && (!runner_up_ || *cost < *runner_up_)) runner_up_ = cost;
}

// Keeps the cheaper of two; whatever loses may be the runner-up.
void DomainContest::challenge(Entrant& entrant, std::optional<GangChoice> choice) {
    entrant.ruled_out = entrant.victims->ruled_out();
    entrant.bound = choice ? choice->bound : entrant.victims->bound();
    if (entrant.ruled_out) note_why(*entrant.victims);
    if (!choice) return;
    lost(choice->runner_up);
    if (best_ && !(choice->cost < best_->cost)) {
        if (choice->cost != best_->cost || pods_of(*choice) != pods_of(*best_)) lost(choice->cost);
        return;
    }
    if (best_) lost(best_->cost);
    best_ = std::move(choice);
}

// Nobody came second: somewhere else a plain walk may do.
void DomainContest::look_for_runner_up() {
    std::size_t tries = 4;
    for (Entrant& entrant : entrants_) {
        if (!entrant.left_out || tries == 0) continue;
        --tries;
        const std::optional<Cost> cost = entrant.victims->plain_cost();
        if (!cost || *cost < best_->cost) continue;
        runner_up_ = cost;
        return;
    }
}

}  // namespace reprieve
