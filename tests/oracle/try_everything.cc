#include <algorithm>

#include "optimum.h"
#include "quota_rules.h"

namespace reprieve::oracle {

Optimum try_everything(const Instance& instance) {
    Optimum best;
    if (!QuotaRules(instance).may_trigger()) return best;
    for (const Domain& domain : domains_of(instance)) {
        const std::vector<Unit> units = units_of(instance, domain);
        std::vector<bool> gone(units.size());
        for (std::uint64_t set = 1; set < std::uint64_t{1} << units.size(); ++set) {
            for (std::size_t i = 0; i < units.size(); ++i)
                gone[i] = (set >> i & 1U) != 0;
            if (!links_hold(units, gone)) continue;
            Price price = price_of(instance, units, gone);
            if (best.found == Found::kOptimum && price >= best.price) continue;
            if (!fits(instance, domain, units, gone)) continue;
            best = {.found = Found::kOptimum, .price = std::move(price), .domain = domain.name};
        }
    }
    return best;
}

bool fits_without_evictions(const Instance& instance) {
    return std::ranges::any_of(domains_of(instance),
                               [&](const Domain& domain) { return fits(instance, domain, {}, {}); });
}

}  // namespace reprieve::oracle
