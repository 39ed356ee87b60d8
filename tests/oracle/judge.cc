#include "judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

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

std::string chosen_domain(const Instance& instance, const Plan& plan) {
    const Placement& first = plan.placements.front();
    return instance.demand.is_gang ? first.domain : first.node;
}

std::string judge_refusal(const Plan& plan, const Optimum& optimum) {
    if (!plan.evictions.empty()) return "evicts for nobody";
    if (plan.certificates.size() != 1) return "no certificate for a refusal";
    if (plan.certificates.front().status != CertificateStatus::kInfeasible) return "a refusal is not called infeasible";
    if (plan.certificates.front().binding.empty()) return "a refusal without its reason";
    if (optimum.found == Found::kOptimum)
        return fmt::format("called infeasible, but {} costs {}", optimum.domain, optimum.price);
    return "";
}

}  // namespace

std::optional<Price> price_of_plan(const Instance& instance, const Plan& plan) {
    std::set<std::string> left;
    for (const Eviction& e : plan.evictions)
        left.insert(e.pod);
    const std::string where = chosen_domain(instance, plan);
    for (const Domain& domain : domains_of(instance)) {
        if (domain.name != where) continue;
        const std::vector<Unit> units = units_of(instance, domain);
        std::vector<bool> gone(units.size());
        for (std::size_t i = 0; i < units.size(); ++i) {
            const auto names = [&](int p) { return "default/" + instance.pods[static_cast<std::size_t>(p)].name; };
            gone[i] = std::ranges::all_of(units[i].pods, [&](int p) { return left.contains(names(p)); });
            if (!gone[i]) continue;
            for (int p : units[i].pods)
                left.erase(names(p));
        }
        if (!left.empty() || !links_hold(units, gone)) return std::nullopt;
        return price_of(instance, units, gone);
    }
    return std::nullopt;
}

std::string complaint(const Instance& instance, const Plan& plan, const Optimum& optimum) {
    if (plan.placements.size() < instance.demand.members.size()) return judge_refusal(plan, optimum);
    if (plan.certificates.size() != 1) return "no certificate";
    const Certificate& c = plan.certificates.front();
    const std::vector<std::string> names = term_names(instance.demand);
    const auto cost = read(c.cost, names);
    if (!cost) return "a cost without the terms of its action";
    const auto priced = price_of_plan(instance, plan);
    if (priced && *priced != *cost) return fmt::format("costs {}, says {}", *priced, *cost);
    if (const auto second = read(c.runner_up, names); second && *second < *cost)
        return fmt::format("the runner-up {} costs less than {}", *second, *cost);
    if (optimum.found == Found::kImpossible) return "a plan where the oracle finds none";
    if (optimum.found == Found::kUnknown) return "";
    // The last look at a plan may settle anew which pods of a gang are its surplus: such a plan is no set of units.
    if (!priced) return "";
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
