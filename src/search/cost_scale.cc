#include "search/cost_scale.h"

#include <algorithm>
#include <numeric>

namespace reprieve {
namespace {

constexpr std::int64_t kMostDenominator = std::int64_t{1} << 40;

}  // namespace

bool CostScale::adds_up(CostTerm term) {
    switch (term) {
        case CostTerm::kPdbViolations:
        case CostTerm::kGangsBroken:
        case CostTerm::kPrioritySum:
        case CostTerm::kLostWork:
        case CostTerm::kResources:
        case CostTerm::kPodCount:
        case CostTerm::kUnits:
        case CostTerm::kOwnPriority:
            return true;
        default:
            return false;
    }
}

CostScale::CostScale(std::span<const CostTerm> terms,
                     std::vector<Cost> alone,
                     std::span<const std::vector<std::int64_t>> destroyed,
                     std::span<const std::int64_t> need)
    : terms_(terms.begin(), terms.end()),
      alone_(std::move(alone)) {
    count_destroyed(destroyed, need);
    bases_.assign(terms_.size(), 1);
    Wide product = 1;
    for (std::size_t t = 0; t < terms_.size() && usable_; ++t) {
        if (!adds_up(terms_[t])) continue;
        Wide total = 1;
        for (std::size_t u = 0; u < alone_.size(); ++u)
            total += terms_[t] == CostTerm::kResources ? fractions_[u] : static_cast<Wide>(alone_[u].terms[t]);
        bases_[t] = total;
        usable_ = total <= kMostWeight / product;
        product *= usable_ ? total : 1;
    }
}

// Amounts are shortened first, so that real sizes have a small common denominator.
void CostScale::count_destroyed(std::span<const std::vector<std::int64_t>> destroyed,
                                std::span<const std::int64_t> need) {
    const std::size_t dims = need.size();
    dims_ = static_cast<std::int64_t>(dims);
    fractions_.assign(alone_.size(), 0);
    std::vector<std::int64_t> common(need.begin(), need.end());
    for (const auto& amounts : destroyed) {
        for (std::size_t d = 0; d < dims; ++d)
            common[d] = std::gcd(common[d], amounts[d]);
    }
    std::int64_t denominator = 1;
    for (std::size_t d = 0; d < dims; ++d) {
        const std::int64_t n = need[d] / common[d];
        if (n > kMostDenominator / (denominator / std::gcd(denominator, n))) usable_ = false;
        if (!usable_) return;
        denominator = std::lcm(denominator, n);
    }
    whole_ = denominator;
    const auto part = [&](std::size_t u, std::size_t d) {
        const std::int64_t n = need[d] / common[d];
        return static_cast<Wide>(destroyed[u][d] / common[d]) * 1000 * (denominator / n);
    };
    Wide step = 0;
    bool one_mix = true;
    for (std::size_t u = 0; u < alone_.size(); ++u) {
        std::vector<Wide> mine(dims);
        for (std::size_t d = 0; d < dims; ++d)
            mine[d] = part(u, d);
        fractions_[u] = std::accumulate(mine.begin(), mine.end(), Wide{0});
        if (fractions_[u] == 0) continue;
        if (parts_.empty()) parts_ = mine;
        const Wide all = std::accumulate(parts_.begin(), parts_.end(), Wide{0});
        for (std::size_t d = 0; d < dims; ++d)
            one_mix = one_mix && mine[d] * all == parts_[d] * fractions_[u];
        for (Wide a = fractions_[u]; a != 0;) {
            const Wide rest = step % a;
            step = a;
            a = rest;
        }
    }
    if (!one_mix) parts_.clear();
    // A step of one thousandth in some dimension shows in print.
    const Wide all = std::accumulate(parts_.begin(), parts_.end(), Wide{0});
    distinct_ = step == 0 || std::ranges::any_of(parts_, [&](Wide p) { return step * p >= whole_ * all; });
}

std::vector<Wide> CostScale::weights_before(std::size_t term) const {
    std::vector<Wide> out(alone_.size());
    for (std::size_t t = 0; t < term; ++t) {
        if (!adds_up(terms_[t])) continue;
        for (std::size_t u = 0; u < alone_.size(); ++u) {
            const Wide digit =
                terms_[t] == CostTerm::kResources ? fractions_[u] : static_cast<Wide>(alone_[u].terms[t]);
            out[u] = out[u] * bases_[t] + digit;
        }
    }
    for (Wide& weight : out)
        weight *= step(term);
    return out;
}

Wide CostScale::step(std::size_t term) const {
    Wide product = 1;
    for (std::size_t t = term; t < terms_.size(); ++t)
        product *= bases_[t];
    return product;
}

// Rounding down per dimension takes less than one thousandth from each.
std::int64_t CostScale::least_printed(Wide fractions) const {
    if (fractions == 0) return 0;
    if (parts_.empty()) return std::max<std::int64_t>(0, static_cast<std::int64_t>(fractions / whole_) - dims_ + 1);
    const Wide all = std::accumulate(parts_.begin(), parts_.end(), Wide{0});
    std::int64_t sum = 0;
    for (Wide part : parts_)
        sum += static_cast<std::int64_t>(fractions * part / all / whole_);
    return sum;
}

bool CostScale::holds_at(std::size_t term) const {
    const auto rounded = std::ranges::find(terms_, CostTerm::kResources) - terms_.begin();
    return distinct_ || static_cast<std::ptrdiff_t>(term) <= rounded;
}

void CostScale::decode(Wide weight, Cost& out) const {
    for (std::size_t t = terms_.size(); t-- > 0;) {
        if (!adds_up(terms_[t])) continue;
        const Wide digit = weight % bases_[t];
        weight /= bases_[t];
        out.terms[t] = terms_[t] == CostTerm::kResources ? least_printed(digit) : static_cast<std::int64_t>(digit);
        if (!holds_at(t)) out.terms[t] = 0;
    }
}

}  // namespace reprieve
