#include "plugins/quota_division.h"

#include <algorithm>

namespace reprieve {
namespace {

void scale_minimums(std::int64_t total, std::span<const QuotaClaim> claims, std::span<QuotaPart> parts) {
    Wide kept = 0;
    Wide scaled = 0;
    for (const QuotaClaim& claim : claims)
        (claim.scales ? scaled : kept) += claim.least;
    const bool too_much = kept + scaled > total;
    const Wide left = std::max<Wide>(total - kept, 0);
    for (std::size_t i = 0; i < claims.size(); ++i) {
        const bool shrinks = too_much && claims[i].scales && scaled > 0;
        parts[i].least = shrinks ? static_cast<std::int64_t>(left * claims[i].least / scaled) : claims[i].least;
    }
}

}  // namespace

// What each borrower gets of `left`: its quotient, and one unit more for the largest remainders.
void QuotaDivision::share(Wide left, Wide weights, std::span<const QuotaClaim> claims) {
    Wide spare = left;
    const bool narrow = left <= INT64_MAX && weights <= INT64_MAX;
    for (Borrower& b : borrowers_) {
        const std::int64_t weight = claims[b.at].weight;
        std::int64_t product = 0;
        if (narrow && !__builtin_mul_overflow(weight, static_cast<std::int64_t>(left), &product)) {
            b.share = product / static_cast<std::int64_t>(weights);
            b.remainder = product % static_cast<std::int64_t>(weights);
        } else {
            b.share = static_cast<std::int64_t>(left * weight / weights);
            b.remainder = static_cast<std::int64_t>(left * weight % weights);
        }
        spare -= b.share;
    }
    const auto lucky = borrowers_.begin() + static_cast<std::ptrdiff_t>(spare);
    if (spare > 0) {
        std::nth_element(borrowers_.begin(), lucky, borrowers_.end(), [](const Borrower& a, const Borrower& b) {
            return a.remainder != b.remainder ? a.remainder > b.remainder : a.at < b.at;
        });
    }
    std::for_each(borrowers_.begin(), lucky, [](Borrower& b) { ++b.share; });
}

void QuotaDivision::divide(std::int64_t total, std::span<const QuotaClaim> claims, std::span<QuotaPart> parts) {
    scale_minimums(total, claims, parts);
    borrowers_.clear();
    Wide left = total;
    for (std::uint32_t i = 0; i < claims.size(); ++i) {
        const bool borrows = claims[i].asked > parts[i].least;
        parts[i].runtime = borrows || !claims[i].lends ? parts[i].least : claims[i].asked;
        left -= parts[i].runtime;
        if (borrows && claims[i].weight > 0) borrowers_.push_back({.at = i});
    }
    while (left > 0 && !borrowers_.empty()) {
        Wide weights = 0;
        for (const Borrower& b : borrowers_)
            weights += claims[b.at].weight;
        share(left, weights, claims);
        left = 0;
        std::erase_if(borrowers_, [&](const Borrower& b) {
            const Wide got = static_cast<Wide>(parts[b.at].runtime) + b.share;
            const bool full = got >= claims[b.at].asked;
            if (full) left += got - claims[b.at].asked;
            parts[b.at].runtime = full ? claims[b.at].asked : static_cast<std::int64_t>(got);
            return full;
        });
    }
}

}  // namespace reprieve
