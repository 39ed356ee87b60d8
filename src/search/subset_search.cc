#include "search/subset_search.h"

#include <algorithm>

#include "search/open_split.h"

namespace reprieve {
namespace {

constexpr std::int64_t kDryRunSteps = 400;
constexpr std::size_t kMostUnits = 64;

}  // namespace

SubsetSearch::SubsetSearch(NodeVictims& owner, NodeId node, Victims& best, bool open)
    : owner_(owner),
      node_(node),
      best_(best),
      open_(open) {
    const Snapshot& s = owner_.session_.snapshot;
    const std::vector<Unit>& units = best_.list.units;
    arithmetic_ = owner_.counts_on(node);
    order_.resize(units.size());
    for (std::uint32_t i = 0; i < order_.size(); ++i)
        order_[i] = i;
    // The least important are decided first: cheap sets are met early.
    std::ranges::sort(
        order_, [&](std::uint32_t a, std::uint32_t b) { return more_important(s, best_.list, units[b], units[a]); });
    is_evicted_.resize(units.size());
    if (!arithmetic_) return;
    std::vector<Dim> shorts;
    for (const auto& [dim, value] : owner_.asker_.amounts) {
        const std::int64_t gap = value - s.later.free(node_, dim);
        if (gap <= 0) continue;
        shorts.push_back(dim);
        missing_.push_back(gap);
    }
    needed_ = missing_;
    freed_.resize(units.size(), std::vector<std::int64_t>(shorts.size()));
    for (std::size_t u = 0; u < units.size(); ++u) {
        for (PodId pod : best_.list.pods_of(units[u])) {
            if (s.pods[pod].node != node_) continue;
            for (std::size_t d = 0; d < shorts.size(); ++d)
                freed_[u][d] += room_of(s, pod, shorts[d]);
        }
    }
    rest_.resize(units.size() + 1, std::vector<std::int64_t>(shorts.size()));
    for (std::size_t i = units.size(); i-- > 0;) {
        for (std::size_t d = 0; d < shorts.size(); ++d)
            rest_[i][d] = rest_[i + 1][d] + freed_[order_[i]][d];
    }
}

void SubsetSearch::run(std::int64_t most_steps) {
    if (order_.size() > kMostUnits) return;
    const std::vector<std::uint32_t> before = best_.chosen;
    Transaction& tx = owner_.session_.tx;
    const auto start = tx.checkpoint();
    if (!arithmetic_) {
        for (std::uint32_t u : order_) {
            for (PodId pod : best_.list.pods_of(best_.list.units[u]))
                tx.evict(pod);
        }
    }
    steps_ = arithmetic_ ? most_steps : std::min(most_steps, kDryRunSteps);
    descend(0);
    // Without arithmetic, leaving somebody out could in principle make a later set fit that was cut: only amounts are
    // sure to be monotone.
    best_.exact = steps_ > 0 && (arithmetic_ || owner_.candidate_.cls.spread.empty());
    tx.rollback(start);
    if (!best_.exact && best_.chosen != before) give_back();
}

bool SubsetSearch::suffice(std::span<const std::uint32_t> units) {
    is_evicted_.assign(is_evicted_.size(), false);
    evicted_.assign(units.begin(), units.end());
    for (std::uint32_t u : units)
        is_evicted_[u] = true;
    if (!links_hold() || !spares_hold()) return false;
    if (arithmetic_) {
        for (std::size_t d = 0; d < needed_.size(); ++d) {
            std::int64_t missing = needed_[d];
            for (std::uint32_t u : units)
                missing -= freed_[u][d];
            if (missing > 0) return false;
        }
        return true;
    }
    Transaction& tx = owner_.session_.tx;
    const auto start = tx.checkpoint();
    for (std::uint32_t u : units) {
        for (PodId pod : best_.list.pods_of(best_.list.units[u]))
            tx.evict(pod);
    }
    const bool enough = owner_.passes(node_);
    tx.rollback(start);
    return enough;
}

void SubsetSearch::give_back() {
    for (std::size_t i = 0; i < best_.chosen.size();) {
        std::vector<std::uint32_t> rest = best_.chosen;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
        if (!rest.empty() && suffice(rest))
            best_.chosen = std::move(rest);
        else
            ++i;
    }
    best_.cost = owner_.cost_of(best_.list, best_.chosen);
}

bool SubsetSearch::too_dear() const {
    if (evicted_.empty()) return false;
    Cost so_far = owner_.cost_of(best_.list, evicted_);
    Cost limit = best_.cost;
    const auto terms = owner_.rules_.order->terms();
    for (std::size_t i = 0; i < terms.size(); ++i) {
        if (terms[i] != CostTerm::kLatestStart) continue;
        // This one may still fall: only terms before it can cut.
        for (std::size_t j = i; j < terms.size(); ++j)
            so_far.terms[j] = limit.terms[j] = 0;
        return so_far > limit;
    }
    return so_far >= limit;
}

bool SubsetSearch::fits_now() {
    if (arithmetic_) return std::ranges::all_of(missing_, [](std::int64_t m) { return m <= 0; });
    return owner_.passes(node_);
}

bool SubsetSearch::could_still_fit(std::size_t depth) {
    if (arithmetic_) {
        for (std::size_t d = 0; d < missing_.size(); ++d) {
            if (missing_[d] > rest_[depth][d]) return false;
        }
        return true;
    }
    // In a dry run all undecided units are gone at this moment.
    return owner_.passes(node_);
}

// Evicting a gang's core takes its surplus pods on this node along.
bool SubsetSearch::links_hold() const {
    for (std::size_t u = 0; u < best_.list.units.size(); ++u) {
        const std::int32_t whole = best_.list.units[u].whole;
        if (whole >= 0 && is_evicted_[static_cast<std::size_t>(whole)] && !is_evicted_[u]) return false;
    }
    return true;
}

// Open splits: no gang loses more than it can spare, unless it goes whole.
bool SubsetSearch::spares_hold() const { return !open_ || !overdrawn(owner_.session_.snapshot, best_.list, evicted_); }

void SubsetSearch::keep(std::uint32_t unit) {
    if (arithmetic_) return;
    for (PodId pod : best_.list.pods_of(best_.list.units[unit]))
        owner_.session_.tx.restore(pod);
}

void SubsetSearch::unkeep(std::uint32_t unit) {
    if (arithmetic_) return;
    for (PodId pod : best_.list.pods_of(best_.list.units[unit]))
        owner_.session_.tx.evict(pod);
}

void SubsetSearch::descend(std::size_t depth) {
    if (steps_ <= 0) return;
    --steps_;
    if (too_dear() || !could_still_fit(depth)) return;
    const bool all_decided = depth == order_.size();
    if ((arithmetic_ ? fits_now() : all_decided) && links_hold() && spares_hold()) {
        // Enough is gone; more would only cost more, in all terms but the start of the most important one.
        if (evicted_.empty()) return;
        const Cost cost = owner_.cost_of(best_.list, evicted_);
        if (cost < best_.cost) {
            best_.cost = cost;
            best_.chosen = evicted_;
            std::ranges::reverse(best_.chosen);
        }
        return;
    }
    if (all_decided) return;
    const std::uint32_t unit = order_[depth];
    // Let it go, or keep it if the others can still make room.
    evicted_.push_back(unit);
    is_evicted_[unit] = true;
    for (std::size_t d = 0; d < missing_.size(); ++d)
        missing_[d] -= freed_[unit][d];
    // What a gang cannot spare now it cannot spare later, unless it may go whole. In a dry run others are gone as well.
    const Unit& gone = best_.list.units[unit];
    const bool lost = arithmetic_ && open_ && gone.kind == UnitKind::kSafe && gone.whole < 0 && !spares_hold();
    if (!lost) descend(depth + 1);
    for (std::size_t d = 0; d < missing_.size(); ++d)
        missing_[d] += freed_[unit][d];
    is_evicted_[unit] = false;
    evicted_.pop_back();
    keep(unit);
    descend(depth + 1);
    unkeep(unit);
}

}  // namespace reprieve
