#include "search/gang_subset_search.h"

#include <algorithm>

namespace reprieve {
namespace {

constexpr std::int64_t kCountingSteps = 12'000;
constexpr std::int64_t kStepsPerMember = 4;  // a step places every member: it takes about as many microseconds
constexpr std::size_t kMostUnits = 48;

}  // namespace

void GangSubsetSearch::run() {
    if (owner_.list_.units.size() > kMostUnits) return;
    order_ = owner_.order_;
    for (std::uint32_t u : order_)
        owner_.take(u);
    const std::int64_t budget = owner_.session_.config.search_budget.us;
    steps_ = owner_.fit_.counts() ? kCountingSteps : budget / (kStepsPerMember * owner_.fit_.wanted());
    descend(0);
    finished_ = steps_ > 0 && owner_.fit_.certain() && !unseen_;
    owner_.reset();
    if (!best_ || !finished_) return;
    best_->exact = true;
    best_->bound = best_->cost;
}

bool GangSubsetSearch::too_dear() const {
    return best_ && !evicted_.empty() && !(owner_.cost_of(evicted_) < best_->cost);
}

bool GangSubsetSearch::links_hold() const {
    for (std::uint32_t u = 0; u < owner_.list_.units.size(); ++u) {
        const std::int32_t whole = owner_.list_.units[u].whole;
        if (whole >= 0 && owner_.taken_[static_cast<std::size_t>(whole)] && !owner_.taken_[u]) return false;
    }
    return true;
}

// At each step the undecided units are gone: if it does not fit then, it never will.
void GangSubsetSearch::descend(std::size_t depth) {
    if (steps_ <= 0) return;
    --steps_;
    if (too_dear() || !owner_.fit_.passes()) return;
    if (depth == order_.size()) {
        if (evicted_.empty() || !links_hold()) return;
        unseen_ = unseen_ || owner_.overdraws_singles();
        owner_.keep_best(best_);
        return;
    }
    const std::uint32_t unit = order_[depth];
    // Keep it first: fewer victims are met early.
    owner_.give(unit);
    descend(depth + 1);
    owner_.take(unit);
    evicted_.push_back(unit);
    descend(depth + 1);
    evicted_.pop_back();
}

}  // namespace reprieve
