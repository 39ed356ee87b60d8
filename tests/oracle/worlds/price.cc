// What a set of victims costs, term by term.
#include <algorithm>
#include <bit>
#include <climits>
#include <map>
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
    for (int i = 0; i < std::min(demand_.min, static_cast<int>(demand_.pods.size())); ++i) {
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
    Mask candidates = 0;  // who comes before all others
    if (reading.walk == kVictims) {
        units = units_in(set);
    } else {
        units = units_at(reading.walk == kEverywhere ? world_.all_nodes() : site, reading.shares_count);
        // Victims elsewhere are candidates as well.
        Mask known = 0;
        for (const Unit& unit : units)
            known |= unit.pods;
        for (const Unit& unit : units_in(set & ~known))
            units.push_back(unit);
        candidates = reading.walk == kSiteFirst ? known : 0;
    }
    // From most to least important.
    std::ranges::sort(units, {}, [&](const Unit& u) {
        return std::tuple((u.pods & candidates) == 0,
                          -u.priority,
                          !u.in_group,
                          -std::popcount(u.pods),
                          u.start,
                          std::countr_zero(u.pods));
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

// Pods by themselves, pods of a gang that goes on or loses them one by one, and gangs that go whole; those that use a
// needed claim together are one.
Victims::Count Victims::count(Mask set, const std::vector<Mask>& needed) const {
    struct Part {
        Mask pods = 0;
        int gangs = 0;        // that go whole
        bool lone = false;    // a pod by itself
        int single = -1;      // the gang that loses it one by one
        bool joined = false;  // by a claim
    };
    std::vector<Part> parts;
    each(set, [&](int p, const WorldPod& pod) {
        if (pod.gang < 0) {
            parts.push_back({.pods = bit(p), .lone = true});
            return;
        }
        const Mask lost = set & members_left(pod.gang);
        const GangKind kind = world_.gang(pod.gang).kind;
        const bool whole =
            kind == GangKind::kCoreAll || (kind == GangKind::kVolcano && std::popcount(lost) > spare(pod.gang));
        if (!whole)
            parts.push_back({.pods = bit(p), .single = kind == GangKind::kCoreSingle ? pod.gang : -1});
        else if ((lost & (bit(p) - 1)) == 0)
            parts.push_back({.pods = lost, .gangs = 1});
    });
    for (Mask users : needed) {
        Part all{.pods = users, .joined = true};
        std::erase_if(parts, [&](const Part& part) {
            if ((part.pods & all.pods) == 0) return false;
            all.pods |= part.pods;
            all.gangs += part.gangs;
            return true;
        });
        parts.push_back(all);
    }
    Count out;
    std::vector<int> one_by_one(world_.gangs.size());
    for (const Part& part : parts) {
        const int units = part.joined ? std::max(1, part.gangs) : 1;
        out.units += units;
        if (part.joined || part.lone || part.gangs > 0) out.broken += units;
        if (!part.joined && part.single >= 0) ++one_by_one[static_cast<std::size_t>(part.single)];
    }
    for (std::size_t g = 0; g < one_by_one.size(); ++g) {
        const int more = one_by_one[g] - (one_by_one[g] > 0 ? spare(static_cast<int>(g)) : 0);
        out.broken += std::max(0, more);
    }
    return out;
}

std::vector<Mask> Victims::shared_claims() const {
    std::map<std::string, Mask> users;
    for (int p = 0; p < world_.pod_count(); ++p) {
        const std::string claim = claim_of(world_, world_.pod(p));
        if (!claim.empty() && places_[static_cast<std::size_t>(p)].node >= 0) users[claim] |= bit(p);
    }
    std::vector<Mask> out;
    for (const auto& [claim, pods] : users) {
        if (std::popcount(pods) > 1) out.push_back(pods);
    }
    return out;
}

bool Victims::counts_units() const {
    if (world_.cost.empty()) return demand_.gang >= 0;
    return std::ranges::any_of(world_.cost, [](const std::string& term) {
        return term == "breaksGangs" || term == "gangsBroken" || term == "units";
    });
}

// Devices of claims that somebody of the set uses, each once.
std::int64_t Victims::claimed(Mask set) const {
    std::map<std::string, int> devices;
    each(set, [&](int, const WorldPod& pod) {
        const std::string claim = claim_of(world_, pod);
        if (!claim.empty()) devices[claim] = std::popcount(pod.devices);
    });
    std::int64_t out = 0;
    for (const auto& [claim, count] : devices)
        out += count;
    return out;
}

// Processor-seconds; in a world of claims device-seconds, each device with the longest time that one of its users
// loses.
std::int64_t Victims::lost_work(Mask set) const {
    std::int64_t out = 0;
    if (!world_.by_claim) {
        each(set, [&](int, const WorldPod& pod) { out += std::int64_t{kNow - pod.start} * pod.traits.cpu; });
        return out;
    }
    std::map<std::string, std::int64_t> longest;
    each(set, [&](int, const WorldPod& pod) {
        const std::string claim = claim_of(world_, pod);
        if (claim.empty()) return;
        std::int64_t& work = longest[claim];
        work = std::max<std::int64_t>(work, std::int64_t{kNow - pod.start} * std::popcount(pod.devices));
    });
    for (const auto& [claim, work] : longest)
        out += work;
    return out;
}

std::int64_t Victims::own_priority(Mask set, Reading::Own own) const {
    using enum Reading::Own;
    std::int64_t sum = 0;
    std::int64_t highest = INT_MIN;
    each(set, [&](int, const WorldPod& pod) {
        if ((own == kSumOfMembers || own == kHighestOfMembers) && pod.gang < 0) return;
        // As in the sum of priorities, every pod counts: 2^31 more than its priority.
        sum += pod.traits.priority + (std::int64_t{1} << 31U);
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
    constexpr std::size_t kDevices = 2;  // of the amounts
    Amounts gone{};
    each(set, [&](int, const WorldPod& pod) {
        const Amounts own = amounts(pod.traits, shares);
        for (std::size_t d = 0; d < kDims; ++d)
            gone[d] += own[d];
    });
    Amounts wanted = need(shares);
    if (world_.by_claim) {
        gone[kDevices] = claimed(set);
        wanted[kDevices] = 0;
        for (int i = 0; i < std::min(demand_.min, static_cast<int>(demand_.pods.size())); ++i)
            wanted[kDevices] += world_.pod(demand_.pods[static_cast<std::size_t>(i)]).traits.gpus;
    }
    std::int64_t out = 0;
    for (std::size_t d = 0; d < kDims; ++d)
        out += wanted[d] > 0 ? 1000 * gone[d] / wanted[d] : 0;
    return out;
}

Price Victims::price(Mask set, Mask site, const Reading& reading, const std::vector<Mask>& needed) const {
    // What an engine calls this term and how it counts it is its own affair; no printed term has this name.
    constexpr const char* kOwn = "own priority";
    std::vector<std::string> terms = world_.cost;
    if (terms.empty() && demand_.gang < 0)
        terms = {"pdbViolations", "maxPriority", "prioritySum", "pods", "latestStart"};
    if (terms.empty()) terms = {"pdbViolations", "breaksGangs", "maxPriority", "gangsBroken", "resources", "pods"};
    // In an order of one's own it stands only where a member's priority is not its gang's.
    bool mixed = world_.cost.empty();
    for (int p = 0; p < world_.pod_count(); ++p)
        mixed = mixed || (world_.pod(p).gang >= 0 && world_.pod(p).traits.priority != standing(p));
    if (mixed) terms.insert(std::ranges::find(terms, "latestStart"), kOwn);
    std::int64_t highest = INT_MIN;
    std::int64_t sum = 0;
    each(set, [&](int p, const WorldPod&) {
        highest = std::max<std::int64_t>(highest, standing(p));
        sum += standing(p) + (std::int64_t{1} << 31U);
    });
    const Count counted = count(set, needed);
    Price out;
    for (const std::string& term : terms) {
        std::int64_t value = 0;
        if (term == "pdbViolations") value = violations(set, site, reading);
        if (term == "breaksGangs") value = counted.broken > 0 ? 1 : 0;
        if (term == "gangsBroken") value = counted.broken;
        if (term == "units") value = counted.units;
        if (term == "maxPriority") value = highest;
        if (term == "prioritySum") value = sum;
        if (term == "lostWork") value = lost_work(set);
        if (term == "resources") value = destroyed(set, reading.shares_count);
        if (term == "pods") value = std::popcount(set);
        if (term == kOwn) value = own_priority(set, reading.own);
        if (term == "latestStart") value = set == 0 ? 0 : -(kBegin + first_start(set, reading));
        out.emplace_back(term, value);
    }
    return out;
}

}  // namespace reprieve::worlds
