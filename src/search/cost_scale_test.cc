#include "search/cost_scale.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

namespace reprieve {
namespace {

using enum CostTerm;

constexpr std::array kTerms{kPdbViolations, kMaxPriority, kGangsBroken, kResources, kPodCount};

struct Units {
    std::vector<Cost> alone;
    std::vector<std::vector<std::int64_t>> destroyed;

    void add(std::int64_t violations, std::int64_t broken, std::vector<std::int64_t> amounts, std::int64_t pods) {
        alone.push_back({{violations, 0, broken, 0, pods}});
        destroyed.push_back(std::move(amounts));
    }

    // What the set prints for the terms that add up.
    [[nodiscard]] Cost printed(unsigned set, std::span<const std::int64_t> need) const {
        Cost out;
        std::vector<std::int64_t> gone(need.size());
        for (std::size_t u = 0; u < alone.size(); ++u) {
            if ((set >> u & 1U) == 0) continue;
            for (std::size_t t = 0; t < kTerms.size(); ++t)
                out.terms[t] += alone[u].terms[t];
            for (std::size_t d = 0; d < need.size(); ++d)
                gone[d] += destroyed[u][d];
        }
        for (std::size_t d = 0; d < need.size(); ++d)
            out.terms[3] += 1000 * gone[d] / need[d];
        return out;
    }
};

Wide weight_of(const CostScale& scale, unsigned set) {
    Wide sum = 0;
    const std::vector<Wide> weights = scale.weights();
    for (std::size_t u = 0; u < weights.size(); ++u)
        sum += (set >> u & 1U) != 0 ? weights[u] : 0;
    return sum;
}

// Whatever weighs at least as much costs at least what is decoded.
RC_GTEST_PROP(CostScale, DecodesALowerBound, ()) {
    Units units;
    const auto dims = *rc::gen::inRange<std::size_t>(1, 4);
    const auto count = *rc::gen::inRange<std::size_t>(1, 6);
    const bool one_mix = *rc::gen::arbitrary<bool>();
    std::vector<std::int64_t> need(dims);
    for (std::int64_t& n : need)
        n = *rc::gen::inRange<std::int64_t>(1, 5000);
    for (std::size_t u = 0; u < count; ++u) {
        std::vector<std::int64_t> amounts(dims);
        const auto size = *rc::gen::inRange<std::int64_t>(0, 9);
        for (std::size_t d = 0; d < dims; ++d)
            amounts[d] = one_mix ? size * static_cast<std::int64_t>(d + 1) : *rc::gen::inRange<std::int64_t>(0, 900);
        units.add(*rc::gen::inRange<std::int64_t>(0, 3),
                  *rc::gen::inRange<std::int64_t>(0, 2),
                  amounts,
                  *rc::gen::inRange<std::int64_t>(1, 5));
    }
    const CostScale scale(kTerms, units.alone, units.destroyed, need);
    RC_ASSERT(scale.usable());
    for (unsigned lighter = 0; lighter < 1U << count; ++lighter) {
        Cost bound;
        scale.decode(weight_of(scale, lighter), bound);
        for (unsigned set = 0; set < 1U << count; ++set) {
            if (weight_of(scale, set) < weight_of(scale, lighter)) continue;
            RC_ASSERT(!(units.printed(set, need) < bound));
        }
    }
}

TEST(CostScale, OneMixIsDecodedExactly) {
    Units units;
    units.add(0, 1, {4, 8}, 2);
    units.add(0, 0, {1, 2}, 1);
    const std::vector<std::int64_t> need{7, 14};
    const CostScale scale(kTerms, units.alone, units.destroyed, need);
    for (unsigned set = 0; set < 4; ++set) {
        Cost decoded;
        scale.decode(weight_of(scale, set), decoded);
        EXPECT_EQ(decoded, units.printed(set, need));
    }
}

TEST(CostScale, WeightsBeforeATermLeaveItOut) {
    Units units;
    units.add(2, 1, {1}, 1);
    const CostScale scale(kTerms, units.alone, units.destroyed, std::vector<std::int64_t>{1});
    EXPECT_EQ(scale.weights_before(0), std::vector<Wide>{0});
    EXPECT_EQ(scale.weights_before(1), std::vector<Wide>{2 * scale.step(1)});
    EXPECT_EQ(scale.step(kTerms.size()), 1);
}

TEST(CostScale, SaysSoWhereNumbersAreTooLarge) {
    Units units;
    units.add(INT64_MAX / 2, INT64_MAX / 2, {1}, INT64_MAX / 2);
    EXPECT_FALSE(CostScale(kTerms, units.alone, units.destroyed, std::vector<std::int64_t>{1}).usable());
}

}  // namespace
}  // namespace reprieve
