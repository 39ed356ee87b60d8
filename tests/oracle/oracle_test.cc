// The engine against oracles that share no code with it: a search that tries everything, and an integer program solved
// by CBC. `optimal` is never wrong, no plan beats the optimum, a refusal is really impossible, a bound is really one.
//
// REPRIEVE_ORACLE=n looks at n times as many instances (`make oracle`; under sanitizers a tenth of them),
// REPRIEVE_ORACLE_INSTANCE=n at that one alone.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>

#include "actions/cycle.h"
#include "generate.h"
#include "judge.h"
#include "laboratory.h"
#include "manifest/plan_json.h"

namespace reprieve::oracle {
namespace {

double times() {
    const char* text = std::getenv("REPRIEVE_ORACLE");
    return text == nullptr ? 1 : std::strtod(text, nullptr);
}

// The numbers of the instances to look at.
std::vector<std::uint64_t> numbers(std::uint64_t first, std::uint64_t count) {
    if (const char* text = std::getenv("REPRIEVE_ORACLE_INSTANCE")) return {std::strtoull(text, nullptr, 10)};
    // A part of a handful would be nothing.
    const auto few = static_cast<double>(std::min<std::uint64_t>(count, 10));
    const double wanted = std::max(few, static_cast<double>(count) * times());
    std::vector<std::uint64_t> out(static_cast<std::size_t>(wanted));
    std::iota(out.begin(), out.end(), first);
    return out;
}

SchedulerConfig config_for(const Demand& demand, bool improve) {
    constexpr std::array<const char*, 3> kActions{"preempt", "gangPreempt", "jobPreempt"};
    Json action{{"name", kActions[static_cast<std::size_t>(demand.way)]}, {"args", {{"improve", improve}}}};
    if (!demand.cost.empty()) action["args"]["cost"] = demand.cost;
    return property::read_config({{"actions", Json::array({{{"name", "allocate"}}, action})}});
}

Plan plan_for(const Instance& instance, bool improve = true) {
    const auto lab = property::build(instance.documents());
    return run_cycle(lab->cluster(), config_for(instance.demand, improve));
}

std::string report(const char* what, std::uint64_t number, const Instance& instance, const Plan& plan) {
    return fmt::format(
        "{} instance {}\n{}\n{}", what, number, property::as_text(instance.documents()), plan_to_json(plan));
}

bool few_units(const Instance& instance) {
    for (const Domain& domain : domains_of(instance)) {
        if (units_of(instance, domain).size() > kMostUnitsToTry) return false;
    }
    return true;
}

Price price_in(const CostVector& vector) {
    Price out;
    for (const auto& [term, value] : vector)
        out.push_back(value);
    return out;
}

struct Tally {
    int judged = 0;
    int optimal = 0;
    int refused = 0;
    int unknown = 0;
    int beaten = 0;  // by the oracle; a plan that claims less than `optimal`
    // Instances by number: those that are not proven can be looked at one by one.
    std::vector<std::uint64_t> gaps;
    std::vector<std::uint64_t> given_up;

    void add(std::uint64_t number, const Plan& plan, const Optimum& optimum) {
        ++judged;
        unknown += optimum.found == Found::kUnknown ? 1 : 0;
        if (plan.certificates.empty()) return;
        const bool missed = plan.evictions.empty() || price_in(plan.certificates.front().cost) > optimum.price;
        beaten += optimum.found == Found::kOptimum && missed ? 1 : 0;
        const CertificateStatus status = plan.certificates.front().status;
        optimal += status == CertificateStatus::kOptimal ? 1 : 0;
        refused += status == CertificateStatus::kInfeasible ? 1 : 0;
        if (status == CertificateStatus::kGap) gaps.push_back(number);
        if (status == CertificateStatus::kHeuristic) given_up.push_back(number);
    }
    void print(const char* what) const {
        fmt::print(
            "{}: {} judged, {} optimal, {} with a gap {}, {} refused, {} given up {}, {} beaten, {} beyond the "
            "solver\n",
            what,
            judged,
            optimal,
            gaps.size(),
            gaps,
            refused,
            given_up.size(),
            given_up,
            beaten,
            unknown);
    }
};

// Whatever pods of a gang one calls its surplus: no plan is cheaper, and what is proven is proven against them all.
std::string complaint_of_splits(const Plan& plan, const Optimum& freest) {
    if (plan.certificates.size() != 1) return "no certificate";
    if (freest.found == Found::kUnknown) return "";
    const Certificate& c = plan.certificates.front();
    if (plan.evictions.empty()) {
        return c.status == CertificateStatus::kInfeasible && freest.found == Found::kOptimum
                   ? fmt::format("called infeasible, but {} costs {}", freest.domain, freest.price)
                   : "";
    }
    if (freest.found != Found::kOptimum) return "no split of the gangs allows a plan";
    const Price cost = price_in(c.cost);
    if (cost < freest.price) return fmt::format("{} beats {}, the least of all splits", cost, freest.price);
    if (c.status == CertificateStatus::kOptimal && cost != freest.price)
        return fmt::format("{} is called optimal; {} costs {}", cost, freest.domain, freest.price);
    if (c.status == CertificateStatus::kGap && price_in(c.bound) > freest.price)
        return fmt::format("the bound {} is above {}, the least of all splits", price_in(c.bound), freest.price);
    return "";
}

using Maker = Instance (*)(std::uint64_t);

enum class CostTerms { kOfTheAction, kDrawn };

void against_everything(const char* what, Maker make, std::uint64_t count, CostTerms terms = CostTerms::kOfTheAction) {
    Tally tally;
    for (std::uint64_t i : numbers(terms == CostTerms::kDrawn ? 2'000'000 : 0, count)) {
        Instance instance = make(i);
        if (terms == CostTerms::kDrawn) draw_cost(instance, i);
        if (fits_without_evictions(instance) || !few_units(instance)) continue;
        const Optimum optimum = try_everything(instance);
        const Plan plan = plan_for(instance);
        EXPECT_EQ(complaint(instance, plan, optimum), "") << report(what, i, instance, plan);
        EXPECT_EQ(complaint_of_splits(plan, try_every_split(instance)), "") << report(what, i, instance, plan);
        const Plan literal = plan_for(instance, false);
        EXPECT_EQ(complaint(instance, literal, optimum, true), "") << report(what, i, instance, literal);
        if (!literal.evictions.empty()) {
            EXPECT_EQ(literal.certificates.front().status, CertificateStatus::kHeuristic) << what << " instance " << i;
        }
        tally.add(i, plan, optimum);
    }
    tally.print(what);
    EXPECT_GT(tally.optimal, 0);
    EXPECT_GT(tally.refused, 0);
}

// The two oracles agree, so each may be trusted where the other cannot go.
void solver_against_everything(const char* what, Maker make, std::uint64_t count) {
    int compared = 0;
    for (std::uint64_t i : numbers(1'000'000, count)) {
        const Instance instance = make(i);
        if (fits_without_evictions(instance) || !few_units(instance)) continue;
        const Optimum tried = try_every_split(instance);
        const Optimum solved = ask_solver(instance, 30);
        EXPECT_EQ(tried.found, solved.found) << what << " instance " << i;
        EXPECT_EQ(tried.price, solved.price) << what << " instance " << i;
        ++compared;
    }
    EXPECT_GT(compared, 0);
}

TEST(Oracle, PodsAgainstEverything) { against_everything("pod", small_pod_instance, 3000); }
TEST(Oracle, GangsAgainstEverything) { against_everything("gang", small_gang_instance, 3000); }
TEST(Oracle, QuotasAgainstEverything) { against_everything("quota", small_quota_instance, 3000); }
TEST(Oracle, PodsOfAnyCostAgainstEverything) {
    against_everything("pod of any cost", small_pod_instance, 1000, CostTerms::kDrawn);
}
TEST(Oracle, GangsOfAnyCostAgainstEverything) {
    against_everything("gang of any cost", small_gang_instance, 1000, CostTerms::kDrawn);
}
TEST(Oracle, QuotasOfAnyCostAgainstEverything) {
    against_everything("quota of any cost", small_quota_instance, 1000, CostTerms::kDrawn);
}
TEST(Oracle, SolverAgreesOnPods) { solver_against_everything("pod", small_pod_instance, 60); }
TEST(Oracle, SolverAgreesOnGangs) { solver_against_everything("gang", small_gang_instance, 60); }
TEST(Oracle, SolverAgreesOnQuotas) { solver_against_everything("quota", small_quota_instance, 60); }

// It finds nothing within its budget, and claims nothing.
bool gave_up(const Plan& plan) {
    return plan.evictions.empty() && plan.certificates.size() == 1 &&
           plan.certificates.front().status == CertificateStatus::kHeuristic;
}

using MediumMaker = Instance (*)(std::uint64_t, int);

void medium_against_the_solver(const char* what, MediumMaker make, std::uint64_t count) {
    const bool short_run = times() <= 1;
    const int seconds = short_run ? 1 : 5;
    Tally tally;
    for (std::uint64_t i : numbers(0, count)) {
        const Instance instance = make(i, short_run ? 64 : 800);
        if (fits_without_evictions(instance)) continue;
        const Optimum optimum = ask_solver(instance, seconds);
        const Plan plan = plan_for(instance);
        if (!gave_up(plan)) {
            EXPECT_EQ(complaint(instance, plan, {.found = Found::kUnknown}), "") << what << " instance " << i;
        }
        EXPECT_EQ(complaint_of_splits(plan, optimum), "") << what << " instance " << i;
        tally.add(i, plan, optimum);
    }
    tally.print(what);
    EXPECT_GT(tally.judged, 0);
}

TEST(Oracle, MediumGangsAgainstTheSolver) { medium_against_the_solver("medium", medium_instance, 8); }
TEST(Oracle, MediumPodsAgainstTheSolver) { medium_against_the_solver("medium pod", medium_pod_instance, 2); }
TEST(Oracle, MediumQuotasAgainstTheSolver) { medium_against_the_solver("medium quota", medium_quota_instance, 8); }

}  // namespace
}  // namespace reprieve::oracle
