#include "judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace reprieve::oracle {
namespace {

std::optional<Price> read(const CostVector& vector, const std::vector<std::string>& names) {
    Price out;
    if (vector.size() != names.size()) return std::nullopt;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (vector[i].first != names[i]) return std::nullopt;
        out.push_back(vector[i].second);
    }
    return out;
}

Domain chosen_domain(const Instance& instance, const Plan& plan) {
    const Placement& first = plan.placements.front();
    const std::vector<Domain> domains = domains_of(instance);
    const auto at =
        std::ranges::find(domains, instance.demand.way == Way::kPreempt ? first.node : first.domain, &Domain::name);
    return at == domains.end() ? Domain() : *at;
}

std::vector<int> evicted_by(const Instance& instance, const Plan& plan) {
    std::vector<int> out;
    for (int p = 0; p < static_cast<int>(instance.pods.size()); ++p) {
        const std::string name = "default/" + instance.pods[static_cast<std::size_t>(p)].name;
        if (std::ranges::find(plan.evictions, name, &Eviction::pod) != plan.evictions.end()) out.push_back(p);
    }
    return out;
}

std::int64_t budgets_overspent(const Instance& instance, const std::vector<int>& gone) {
    std::int64_t sum = 0;
    for (const Budget& budget : instance.budgets) {
        const auto lost = std::ranges::count_if(
            gone, [&](int p) { return instance.pods[static_cast<std::size_t>(p)].app == budget.app; });
        sum += std::max<std::int64_t>(0, lost - budget.allowed);
    }
    return sum;
}

// Other pods of a gang may be its surplus than its order says, where that is cheaper: such a plan is no set of units.
// It is still legal for some split, makes room, costs what it says, and not more than a set of units would.
std::string judge_other_split(const Instance& instance, const Plan& plan, const Price& cost, const Optimum& optimum) {
    const Domain domain = chosen_domain(instance, plan);
    const std::vector<int> gone = evicted_by(instance, plan);
    const auto priced = price_of_pods(instance, domain, gone);
    if (!priced) return "takes from gangs what they can neither spare nor lose whole";
    const bool claims = plan.certificates.front().status != CertificateStatus::kHeuristic;
    // The last look at a literal plan knows who goes, and counts the budgets that those really spend.
    Price least = *priced;
    if (!claims) least.front() = std::min(least.front(), budgets_overspent(instance, gone));
    if (least > cost || (claims && *priced != cost))
        return fmt::format("costs {} with another split, says {}", *priced, cost);
    if (!fits_without(instance, domain, gone)) return "makes no room";
    const bool proven = plan.certificates.front().status == CertificateStatus::kOptimal;
    if (proven && optimum.found == Found::kOptimum && cost > optimum.price)
        return fmt::format("{} is called optimal; {} is", cost, optimum.price);
    // The last look leaves a literal plan's members where they sit.
    if (!claims) return "";
    for (int spared : gone) {
        std::vector<int> rest = gone;
        std::erase(rest, spared);
        const int gang = instance.pods[static_cast<std::size_t>(spared)].gang;
        std::vector<int> others;
        std::ranges::copy_if(rest, std::back_inserter(others), [&](int p) {
            return instance.pods[static_cast<std::size_t>(p)].gang == gang;
        });
        if ((gang < 0 || may_lose(instance, gang, others)) && fits_without(instance, domain, rest))
            return fmt::format("{} need not go", instance.pods[static_cast<std::size_t>(spared)].name);
    }
    return "";
}

std::string judge_refusal(const Plan& plan, const Optimum& optimum, bool literal) {
    if (!plan.evictions.empty()) return "evicts for nobody";
    if (plan.certificates.size() != 1) return "no certificate for a refusal";
    if (plan.certificates.front().binding.empty()) return "a refusal without its reason";
    // The literal algorithms may miss a plan, and claim nothing then.
    if (literal && plan.certificates.front().status == CertificateStatus::kUnknown) return "";
    if (plan.certificates.front().status != CertificateStatus::kInfeasible) return "a refusal is not called infeasible";
    if (optimum.found == Found::kOptimum)
        return fmt::format("called infeasible, but {} costs {}", optimum.domain, optimum.price);
    return "";
}

}  // namespace

std::optional<Price> price_of_plan(const Instance& instance, const Plan& plan) {
    std::vector<int> left = evicted_by(instance, plan);
    const std::vector<Unit> units = units_of(instance, chosen_domain(instance, plan));
    std::vector<bool> gone(units.size());
    for (std::size_t i = 0; i < units.size(); ++i) {
        const auto goes = [&](int p) { return std::ranges::find(left, p) != left.end(); };
        gone[i] = std::ranges::all_of(units[i].pods, goes);
        if (!gone[i]) continue;
        std::erase_if(left, [&](int p) { return std::ranges::find(units[i].pods, p) != units[i].pods.end(); });
    }
    if (!left.empty() || !links_hold(units, gone)) return std::nullopt;
    return price_of(instance, units, gone);
}

std::string complaint(const Instance& instance, const Plan& plan, const Optimum& optimum, bool literal) {
    if (plan.placements.size() < instance.demand.members.size()) return judge_refusal(plan, optimum, literal);
    if (plan.certificates.size() != 1) return "no certificate";
    const Certificate& c = plan.certificates.front();
    const std::vector<std::string> names = term_names(instance);
    const auto cost = read(c.cost, names);
    if (!cost) return "a cost without the terms of its action";
    auto priced = price_of_plan(instance, plan);
    if (priced && *priced < *cost) return fmt::format("costs {}, says {}", *priced, *cost);
    // Pods that go one by one are units in every split, but which of them are surplus differs.
    if (priced && *priced > *cost && !literal) priced.reset();
    if (priced && *priced != *cost) return fmt::format("costs {}, says {}", *priced, *cost);
    if (const auto second = read(c.runner_up, names); second && *second < *cost)
        return fmt::format("the runner-up {} costs less than {}", *second, *cost);
    if (!priced) return judge_other_split(instance, plan, *cost, optimum);
    if (optimum.found == Found::kImpossible) return "a plan where the oracle finds none";
    if (optimum.found == Found::kUnknown) return "";
    if (*cost < optimum.price) return fmt::format("{} beats the oracle's {}", *cost, optimum.price);
    if (c.status == CertificateStatus::kOptimal && *cost != optimum.price)
        return fmt::format("{} is called optimal; {} costs {}", *cost, optimum.domain, optimum.price);
    if (c.status != CertificateStatus::kGap) return "";
    const auto bound = read(c.bound, names);
    if (!bound) return "a gap without a bound";
    if (*bound >= *cost) return "a gap without a gap";
    if (*bound > optimum.price) return fmt::format("the bound {} is above the optimum {}", *bound, optimum.price);
    return "";
}

}  // namespace reprieve::oracle
