#include "search/bundles.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/wide.h"

namespace reprieve {
namespace {

constexpr std::int64_t kMost = INT64_MAX;

}  // namespace

std::int64_t roi_bucket(std::span<const Resources::Amount> need,
                        const Resources& local,
                        const Resources& global,
                        std::int32_t threshold_ppm) {
    // gain = sum a_i / n_i and cost = sum g_i / n_i over one common denominator; fractions are shortened first so that
    // real sizes stay far below 128 bits.
    Wide gain = 0;
    Wide cost = 0;
    Wide denominator = 1;
    for (const auto& [dim, wanted] : need) {
        if (dim == kPods || wanted <= 0) continue;
        std::int64_t n = wanted;
        std::int64_t a = std::min(local.get(dim), wanted);
        std::int64_t g = global.get(dim);
        const std::int64_t common = std::gcd(n, std::gcd(a, g));
        n /= common;
        a /= common;
        g /= common;
        // Beyond this, sizes without common factors are rounded to a 2^20th of the need.
        while (n > (std::int64_t{1} << 20)) {
            n >>= 1U;
            a >>= 1U;
            g >>= 1U;
        }
        gain = gain * n + static_cast<Wide>(a) * denominator;
        cost = cost * n + static_cast<Wide>(g) * denominator;
        denominator *= n;
    }
    if (cost == 0) return kMost;
    const Wide bucket = threshold_ppm <= 0 ? gain * 1'000'000 / cost : gain * 1'000'000 / (cost * threshold_ppm);
    return bucket > kMost ? kMost : static_cast<std::int64_t>(bucket);
}

std::vector<Bundle> make_bundles(const Snapshot& s,
                                 const UnitList& list,
                                 std::span<const Resources::Amount> need,
                                 const BundleRules& rules,
                                 const std::vector<bool>& in_domain) {
    std::vector<Bundle> bundles;
    std::map<GangId, std::size_t> safe_of;  // the SAFE bundle of each gang
    for (std::uint32_t i = 0; i < list.units.size(); ++i) {
        const Unit& unit = list.units[i];
        const bool safe = unit.kind == UnitKind::kSafe;
        std::size_t at = bundles.size();
        if (safe) at = safe_of.try_emplace(unit.gang, at).first->second;
        if (at == bundles.size())
            bundles.push_back({.safe = safe, .priority = unit.priority, .start_us = unit.start_us});
        Bundle& bundle = bundles[at];
        bundle.units.push_back(i);
        bundle.over_budget = bundle.over_budget || unit.violations > 0;
        bundle.start_us = std::min(bundle.start_us, unit.start_us);
        if (rules.reclaim) {
            const auto place = std::ranges::find(rules.queue_order, s.pods[list.pods[unit.first]].queue);
            bundle.queue_place = static_cast<std::int32_t>(place - rules.queue_order.begin());
        }
    }
    for (Bundle& bundle : bundles) {
        if (bundle.safe) {
            bundle.roi_bucket = kMost;
            continue;
        }
        Resources local;
        Resources global;
        for (std::uint32_t u : bundle.units) {
            for (PodId pod : list.pods_of(list.units[u])) {
                for (const auto& [dim, value] : s.class_of(pod).requests) {
                    global.add(dim, value);
                    if (s.pods[pod].node && in_domain[s.pods[pod].node.index()]) local.add(dim, value);
                }
            }
        }
        bundle.roi_bucket = roi_bucket(need, local, global, rules.roi_threshold_ppm);
    }
    const auto name_less = [&](const Bundle& a, const Bundle& b) {
        const Unit& x = list.units[a.units.front()];
        const Unit& y = list.units[b.units.front()];
        const PodId first = list.pods[x.first];
        const PodId second = list.pods[y.first];
        const std::string mine = x.gang ? s.gang_name(x.gang) : s.pod_name(first);
        const std::string its = y.gang ? s.gang_name(y.gang) : s.pod_name(second);
        return mine != its ? mine < its : s.name_less(first, second);
    };
    std::ranges::sort(bundles, [&](const Bundle& a, const Bundle& b) {
        if (a.over_budget != b.over_budget) return b.over_budget;
        if (a.safe != b.safe) return a.safe;
        if (rules.reclaim && a.queue_place != b.queue_place) return a.queue_place < b.queue_place;
        if (!rules.reclaim && a.priority != b.priority) return a.priority < b.priority;
        if (a.roi_bucket != b.roi_bucket) return a.roi_bucket > b.roi_bucket;
        if (rules.reclaim && a.priority != b.priority) return a.priority < b.priority;
        if (a.start_us != b.start_us) return a.start_us > b.start_us;
        return name_less(a, b);
    });
    return bundles;
}

}  // namespace reprieve
