#include "search/gang_subset_search.h"

#include <algorithm>

namespace reprieve {
namespace {

constexpr std::int64_t kCountingSteps = 12'000;
constexpr std::int64_t kWorkPerMember = 4;  // to place one takes about as many microseconds
constexpr std::size_t kMostGangUnits = 48;

}  // namespace

void GangSubsetSearch::run(std::int64_t budget) {
    if (owner_.list_.units.size() > kMostGangUnits) return;
    order_ = owner_.order_;
    for (std::uint32_t u : order_)
        owner_.take(u);
    work_ = owner_.fit_.counts() ? std::min(kCountingSteps, budget) : budget;
    const std::int64_t all = work_;
    trial_ = owner_.fit_.counts() ? 0 : kWorkPerMember * owner_.fit_.wanted();
    descend(0, true);
    finished_ = work_ > 0 && owner_.fit_.certain();
    spent_ = all - work_;
    owner_.reset();
    if (!best_ || !finished_) return;
    best_->exact = true;
    best_->bound = best_->cost;
}

bool GangSubsetSearch::too_dear() const {
    if (!best_ || evicted_.empty()) return false;
    Cost so_far = owner_.cost_of(evicted_);
    Cost limit = best_->cost;
    const auto terms = owner_.rules_.order->terms();
    const auto start = std::ranges::find(terms, CostTerm::kLatestStart);
    if (start == terms.end()) return !(so_far < limit);
    // This one may still fall as others go: only terms before it can cut.
    for (auto i = static_cast<std::size_t>(start - terms.begin()); i < terms.size(); ++i)
        so_far.terms[i] = limit.terms[i] = 0;
    return limit < so_far;
}

bool GangSubsetSearch::links_hold() const {
    for (std::uint32_t u = 0; u < owner_.list_.units.size(); ++u) {
        const std::int32_t whole = owner_.list_.units[u].whole;
        if (whole >= 0 && owner_.taken_[static_cast<std::size_t>(whole)] && !owner_.taken_[u]) return false;
    }
    return true;
}

bool GangSubsetSearch::fits() {
    work_ -= trial_;
    return owner_.fit_.passes();
}

// At each step the undecided units are gone: if it does not fit then, it never will. `changed`: somebody has come back
// since that was asked.
void GangSubsetSearch::descend(std::size_t depth, bool changed) {
    if (work_ <= 0) return;
    --work_;
    if (too_dear() || (changed && !fits())) return;
    if (depth == order_.size()) {
        if (evicted_.empty() || !links_hold()) return;
        owner_.keep_best(best_);
        return;
    }
    const std::uint32_t unit = order_[depth];
    // Keep it first: fewer victims are met early.
    owner_.give(unit);
    descend(depth + 1, true);
    owner_.take(unit);
    evicted_.push_back(unit);
    descend(depth + 1, false);
    evicted_.pop_back();
}

}  // namespace reprieve
