// CostScale: the terms of a cost that add up over units, as one number per unit that compares like the vector.
//
// Each term is a digit whose base is more than all units together can reach. What is destroyed is counted in exact
// fractions of the need; the printed term rounds them down per dimension, and `decode` knows by how much at most.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/wide.h"
#include "plugins/cost.h"

namespace reprieve {

class CostScale {
public:
    // All units together weigh no more; whoever adds prices to their weights adds no more than that again.
    static constexpr Wide kMostWeight = static_cast<Wide>(INT64_MAX) << 60U;

    // `alone`: what each unit costs by itself. `destroyed`: per unit and dimension of the need.
    CostScale(std::span<const CostTerm> terms,
              std::vector<Cost> alone,
              std::span<const std::vector<std::int64_t>> destroyed,
              std::span<const std::int64_t> need);

    // False: the numbers are too large.
    [[nodiscard]] bool usable() const { return usable_; }
    // Whether the term adds up. Others are the largest of the victims' values.
    [[nodiscard]] static bool adds_up(CostTerm term);

    // Per unit, of all terms that add up; of those before this one alone, as multiples of its `step`.
    [[nodiscard]] std::vector<Wide> weights() const { return weights_before(terms_.size()); }
    [[nodiscard]] std::vector<Wide> weights_before(std::size_t term) const;
    // What one more of the terms before this one weighs.
    [[nodiscard]] Wide step(std::size_t term) const;
    [[nodiscard]] const Cost& alone(std::uint32_t unit) const { return alone_[unit]; }

    // Whether what was found for this term still counts: after a rounded term that hides differences nothing does.
    [[nodiscard]] bool holds_at(std::size_t term) const;

    // The terms that add up, of any set of units that weighs at least this much; the others are left alone.
    void decode(Wide weight, Cost& out) const;

private:
    void count_destroyed(std::span<const std::vector<std::int64_t>> destroyed, std::span<const std::int64_t> need);
    [[nodiscard]] std::int64_t least_printed(Wide fractions) const;

    std::vector<CostTerm> terms_;
    std::vector<Cost> alone_;
    std::vector<Wide> fractions_;  // destroyed by each unit
    Wide whole_ = 1;               // fractions that make one thousandth of the need
    std::vector<Wide> parts_;      // of the fractions, by dimension, where all units have the same mix; else empty
    std::int64_t dims_ = 0;
    bool distinct_ = false;  // different fractions never print the same
    std::vector<Wide> bases_;
    bool usable_ = true;
};

}  // namespace reprieve
