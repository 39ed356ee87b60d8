// The optimum where any pods of a gang may be called its surplus, as long as it keeps its minimums.
#include <algorithm>
#include <map>

#include "optimum.h"
#include "quota_rules.h"
#include "spare.h"

namespace reprieve::oracle {
namespace {

using Pods = std::vector<int>;

// The gang keeps its minimums without these pods, or had fallen below them before.
bool can_spare(const Instance& instance, int gang, const Pods& gone) {
    Spare spare(instance, gang);
    return std::ranges::all_of(gone, [&](int pod) { return spare.take(instance.pods[static_cast<std::size_t>(pod)]); });
}

int most_spared(const Instance& instance, int gang, const Pods& gone) {
    Spare spare(instance, gang);
    return static_cast<int>(
        std::ranges::count_if(gone, [&](int pod) { return spare.take(instance.pods[static_cast<std::size_t>(pod)]); }));
}

// How many units of the gang break if exactly these pods go; nullopt: it may not lose just these.
std::optional<std::int64_t> broken_by(const Instance& instance, int gang, const Pods& gone) {
    const GangMode mode = instance.gangs[static_cast<std::size_t>(gang)].mode;
    if (mode == GangMode::kCoreSingle)
        return static_cast<std::int64_t>(gone.size()) - most_spared(instance, gang, gone);
    if (mode == GangMode::kVolcano && can_spare(instance, gang, gone)) return 0;
    const auto all = std::ranges::count(instance.pods, gang, &RunningPod::gang);
    if (all != std::ssize(gone)) return std::nullopt;
    return 1;
}

std::optional<Price> price_of_allowed(const Instance& instance,
                                      const Pods& allowed,
                                      const std::vector<bool>& breaks_budget,
                                      const Pods& gone) {
    std::map<int, Pods> by_gang;
    Bill bill(instance);
    for (int p : gone) {
        if (!std::ranges::binary_search(allowed, p)) return std::nullopt;
        const RunningPod& pod = instance.pods[static_cast<std::size_t>(p)];
        bill.add(p, breaks_budget[static_cast<std::size_t>(p)]);
        if (pod.gang >= 0)
            by_gang[pod.gang].push_back(p);
        else
            bill.add_broken(1);
    }
    for (const auto& [gang, pods] : by_gang) {
        const auto broken = broken_by(instance, gang, pods);
        if (!broken) return std::nullopt;
        bill.add_broken(*broken);
    }
    return bill.price();
}

class EverySplit {
public:
    EverySplit(const Instance& instance, const Domain& domain)
        : instance_(instance),
          domain_(domain),
          candidates_(candidates_in(instance, domain)),
          allowed_(takeable_pods(instance)),
          breaks_budget_(budget_breakers(instance, domain)) {}

    void improve(Optimum& best) {
        for (std::uint64_t set = 1; set < std::uint64_t{1} << candidates_.size(); ++set) {
            const Pods gone = with_the_rest_of_gangs(set);
            std::optional<Price> price = price_of_allowed(instance_, allowed_, breaks_budget_, gone);
            if (!price || (best.found == Found::kOptimum && *price >= best.price)) continue;
            if (fits_without(instance_, domain_, gone))
                best = {.found = Found::kOptimum, .price = std::move(*price), .domain = domain_.name};
        }
    }

private:
    // A gang that cannot spare what it loses here goes wherever it runs.
    [[nodiscard]] Pods with_the_rest_of_gangs(std::uint64_t set) const {
        Pods gone;
        std::map<int, Pods> by_gang;
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            if ((set >> i & 1U) == 0) continue;
            gone.push_back(candidates_[i]);
            const int gang = instance_.pods[static_cast<std::size_t>(candidates_[i])].gang;
            if (gang >= 0) by_gang[gang].push_back(candidates_[i]);
        }
        for (const auto& [gang, pods] : by_gang) {
            if (broken_by(instance_, gang, pods)) continue;
            for (int p = 0; p < static_cast<int>(instance_.pods.size()); ++p) {
                const bool local = std::ranges::find(candidates_, p) != candidates_.end();
                if (instance_.pods[static_cast<std::size_t>(p)].gang == gang && !local) gone.push_back(p);
            }
        }
        return gone;
    }

    const Instance& instance_;
    const Domain& domain_;
    Pods candidates_;
    Pods allowed_;
    std::vector<bool> breaks_budget_;
};

}  // namespace

std::optional<Price> price_of_pods(const Instance& instance, const Domain& domain, const std::vector<int>& gone) {
    return price_of_allowed(instance, takeable_pods(instance), budget_breakers(instance, domain), gone);
}

bool may_lose(const Instance& instance, int gang, const std::vector<int>& gone) {
    return gone.empty() || broken_by(instance, gang, gone).has_value();
}

Optimum try_every_split(const Instance& instance) {
    Optimum best;
    if (!QuotaRules(instance).may_trigger()) return best;
    for (const Domain& domain : domains_of(instance))
        EverySplit(instance, domain).improve(best);
    return best;
}

}  // namespace reprieve::oracle
