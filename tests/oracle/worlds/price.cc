// What a set of victims costs, term by term.
#include <algorithm>
#include <bit>
#include <climits>
#include <tuple>

#include "victims.h"

namespace reprieve::worlds {

bool cheaper(const Price& a, const Price& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i].second != b[i].second) return a[i].second < b[i].second;
    }
    return false;
}

// What is claimed is no request; an extended resource is one, whoever serves it.
Victims::Amounts Victims::amounts(const Traits& traits, bool shares) const {
    const int whole = world_.by_claim && !world_.by_extended_resource ? 0 : traits.gpus;
    const int number = whole + (traits.counted ? 1 : 0);
    return {traits.cpu, traits.memory, number, shares ? traits.gpu_milli : 0, shares ? traits.gpu_memory : 0};
}

// What the members ask for that must be placed; where a gang has more, its members are alike.
Victims::Amounts Victims::need(bool shares) const {
    Amounts out{};
    for (int i = 0; i < demand_.min; ++i) {
        const Amounts own = amounts(world_.pod(demand_.pods[static_cast<std::size_t>(i)]).traits, shares);
        for (std::size_t d = 0; d < kDims; ++d)
            out[d] += own[d];
    }
    return out;
}

std::int64_t Victims::violations(Mask set, Mask site, const Reading& reading) const {
    using enum Reading::Walk;
    if (reading.walk == kNobody || world_.budgets.empty()) return 0;
    std::vector<Unit> units;
    if (reading.walk == kVictims) {
        units = units_in(set);
    } else {
        units = units_at(reading.walk == kSite ? site : world_.all_nodes(), reading.shares_count);
        // Victims elsewhere are candidates as well.
        Mask known = 0;
        for (const Unit& unit : units)
            known |= unit.pods;
        for (const Unit& unit : units_in(set & ~known))
            units.push_back(unit);
    }
    // From most to least important.
    std::ranges::sort(units, {}, [](const Unit& u) {
        return std::tuple(-u.priority, !u.in_group, -std::popcount(u.pods), u.start, std::countr_zero(u.pods));
    });
    std::vector<int> left;
    for (const WorldBudget& budget : world_.budgets)
        left.push_back(budget.allowed - spends(spent_, budget));
    Mask breaks = 0;
    for (const Unit& unit : units) {
        each(unit.pods, [&](int p, const WorldPod& pod) {
            for (std::size_t b = 0; b < left.size(); ++b) {
                if (world_.budgets[b].app == pod.traits.app && --left[b] < 0) breaks |= bit(p);
            }
        });
    }
    return std::popcount(breaks & set);
}

// Units that are more than their gang can spare; a pod by itself is one.
std::int64_t Victims::broken(Mask set) const {
    std::int64_t out = 0;
    each(set, [&](int, const WorldPod& pod) { out += pod.gang < 0 ? 1 : 0; });
    for (int g = 0; g < static_cast<int>(world_.gangs.size()); ++g) {
        const int lost = std::popcount(set & members_left(g));
        if (lost == 0) continue;
        const GangKind kind = world_.gang(g).kind;
        if (kind == GangKind::kCoreAll)
            ++out;
        else if (lost > spare(g))
            out += kind == GangKind::kCoreSingle ? lost - spare(g) : 1;
    }
    return out;
}

std::int64_t Victims::own_priority(Mask set, Reading::Own own) const {
    using enum Reading::Own;
    std::int64_t sum = 0;
    std::int64_t highest = INT_MIN;
    each(set, [&](int, const WorldPod& pod) {
        if ((own == kSumOfMembers || own == kHighestOfMembers) && pod.gang < 0) return;
        sum += pod.traits.priority;
        highest = std::max<std::int64_t>(highest, pod.traits.priority);
    });
    return own == kSumOfAll || own == kSumOfMembers ? sum : highest;
}

std::int64_t Victims::first_start(Mask set, const Reading& reading) const {
    if (reading.start_of_unit) {
        const std::vector<Unit> units = units_in(set);
        return std::ranges::min_element(
                   units,
                   {},
                   [](const Unit& u) { return std::tuple(-u.priority, !u.in_group, -std::popcount(u.pods), u.start); })
            ->start;
    }
    std::pair<int, int> best{INT_MAX, INT_MAX};
    each(set, [&](int p, const WorldPod& pod) { best = std::min(best, {-standing(p), pod.start}); });
    return best.second;
}

std::int64_t Victims::destroyed(Mask set, bool shares) const {
    Amounts gone{};
    each(set, [&](int, const WorldPod& pod) {
        const Amounts own = amounts(pod.traits, shares);
        for (std::size_t d = 0; d < kDims; ++d)
            gone[d] += own[d];
    });
    const Amounts wanted = need(shares);
    std::int64_t out = 0;
    for (std::size_t d = 0; d < kDims; ++d)
        out += wanted[d] > 0 ? 1000 * gone[d] / wanted[d] : 0;
    return out;
}

Price Victims::price(Mask set, Mask site, const Reading& reading) const {
    std::int64_t highest = INT_MIN;
    std::int64_t sum = 0;
    each(set, [&](int p, const WorldPod&) {
        highest = std::max<std::int64_t>(highest, standing(p));
        sum += standing(p) + (std::int64_t{1} << 31U);
    });
    Price out{{"pdbViolations", violations(set, site, reading)}};
    // What an engine calls this term and how it counts it is its own affair; no printed term has this name.
    const std::pair<std::string, std::int64_t> own{"own priority", own_priority(set, reading.own)};
    if (demand_.gang < 0) {
        out.insert(out.end(),
                   {{"maxPriority", highest},
                    {"prioritySum", sum},
                    {"pods", std::popcount(set)},
                    own,
                    {"latestStart", set == 0 ? 0 : -(kBegin + first_start(set, reading))}});
        return out;
    }
    const std::int64_t units = broken(set);
    out.insert(out.end(),
               {{"breaksGangs", units > 0 ? 1 : 0},
                {"maxPriority", highest},
                {"gangsBroken", units},
                {"resources", destroyed(set, reading.shares_count)},
                {"pods", std::popcount(set)},
                own});
    return out;
}

}  // namespace reprieve::worlds
