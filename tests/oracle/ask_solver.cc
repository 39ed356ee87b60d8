#include <algorithm>
#include <map>
#include <set>

#include "linear_program.h"
#include "optimum.h"
#include "quota_rules.h"
#include "spare.h"

namespace reprieve::oracle {
namespace {

// The integer program of one domain. A binary per unit that may go, whichever pods of a gang are its surplus; per shape
// of member and node how many sit there.
class DomainProgram {
public:
    DomainProgram(const Instance& instance, const Domain& domain, int seconds)
        : instance_(instance),
          domain_(domain),
          seconds_(seconds),
          units_(open_units_of(instance, domain)) {
        for (std::size_t i = 0; i < units_.size(); ++i)
            goes_.push_back(program_.add_binary());
        for (std::size_t i = 0; i < units_.size(); ++i) {
            // A gang does not go without its surplus here.
            if (units_[i].whole >= 0)
                program_.at_most({{1, goes_[static_cast<std::size_t>(units_[i].whole)]}, {-1, goes_[i]}}, 0);
        }
        keep_minimums();
        seat_members();
        keep_quotas();
    }

    Optimum solve() {
        add_terms();
        const Found first = settle();
        if (first != Found::kOptimum) return {.found = first, .price = {}, .domain = domain_.name};
        if (instance_.demand.way == Way::kPreempt) {
            // Of the most important victims the youngest; who they are is known only now.
            start_term();
            if (settle() != Found::kOptimum) return {.found = Found::kUnknown, .price = {}, .domain = domain_.name};
        }
        std::vector<int> gone;
        for (std::size_t i = 0; i < units_.size(); ++i) {
            if (values_[static_cast<std::size_t>(goes_[i])] != 0)
                gone.insert(gone.end(), units_[i].pods.begin(), units_[i].pods.end());
        }
        std::optional<Price> price = price_of_pods(instance_, domain_, gone);
        if (!price) return {.found = Found::kUnknown, .price = {}, .domain = domain_.name};
        return {.found = Found::kOptimum, .price = std::move(*price), .domain = domain_.name};
    }

private:
    struct Term {
        Sum sum;
        std::int64_t most = 0;
    };

    // A gang loses no more than it can spare, of all and of each role, unless it goes whole. Where pods go one by one,
    // those beyond that break it.
    void keep_minimums() {
        std::map<int, std::vector<std::size_t>> by_gang;
        for (std::size_t i = 0; i < units_.size(); ++i) {
            if (units_[i].safe) by_gang[units_[i].gang].push_back(i);
        }
        for (const auto& [gang, spares] : by_gang) {
            const Spare spare(instance_, gang);
            if (spare.everything()) continue;
            if (instance_.gangs[static_cast<std::size_t>(gang)].mode == GangMode::kCoreSingle) {
                breaking_.push_back({.variable = program_.add_integer(std::ssize(spares)), .most = std::ssize(spares)});
                keep_at_most(spares, spare.left(), {1, breaking_.back().variable});
                continue;
            }
            const int whole = units_[spares.front()].whole;
            const Weighted excuse{std::ssize(spares), whole < 0 ? -1 : goes_[static_cast<std::size_t>(whole)]};
            keep_at_most(spares, spare.left(), excuse);
            for (const auto& [role, left] : spare.by_role()) {
                std::vector<std::size_t> of_role;
                std::ranges::copy_if(spares, std::back_inserter(of_role), [&](std::size_t i) {
                    return instance_.pods[static_cast<std::size_t>(units_[i].pods.front())].role == role;
                });
                keep_at_most(of_role, left, excuse);
            }
        }
    }

    // At most so many of these go, and as many more as the excuse allows; -1 is none.
    void keep_at_most(const std::vector<std::size_t>& units, std::int64_t most, const Weighted& excuse) {
        Sum sum;
        for (std::size_t i : units)
            sum.push_back({1, goes_[i]});
        if (sum.empty()) return;
        if (excuse.variable >= 0) sum.push_back({-excuse.weight, excuse.variable});
        program_.at_most(std::move(sum), most);
    }

    // Every member has a place, and no node holds more than it has and gets back.
    void seat_members() {
        std::map<Amounts, std::int64_t> shapes;
        for (const Amounts& member : instance_.demand.members)
            ++shapes[member];
        std::map<int, std::map<Amounts, int>> seats;
        for (const auto& [shape, count] : shapes) {
            Sum all;
            for (int node : domain_.nodes) {
                const int seat = program_.add_integer(count);
                seats[node][shape] = seat;
                all.push_back({1, seat});
            }
            program_.equal(all, count);
        }
        std::map<int, std::map<std::size_t, Amounts>> gives;
        for (std::size_t i = 0; i < units_.size(); ++i) {
            for (int p : units_[i].pods) {
                const RunningPod& pod = instance_.pods[static_cast<std::size_t>(p)];
                for (std::size_t d = 0; d < kDims; ++d)
                    gives[pod.node][i][d] += pod.ask[d];
            }
        }
        for (int node : domain_.nodes) {
            const Amounts room = free_on(instance_, node);
            for (std::size_t d = 0; d < kDims; ++d) {
                Sum use;
                for (const auto& [shape, seat] : seats[node]) {
                    if (shape[d] > 0) use.push_back({shape[d], seat});
                }
                if (use.empty()) continue;
                for (const auto& [unit, amounts] : gives[node]) {
                    if (amounts[d] > 0) use.push_back({-amounts[d], goes_[unit]});
                }
                program_.at_most(use, room[d]);
            }
        }
    }

    // What the victims give back of one resource in a quota.
    [[nodiscard]] Sum given(const QuotaRules& quotas, const QuotaCondition& condition) const {
        Sum out;
        for (std::size_t i = 0; i < units_.size(); ++i) {
            std::int64_t gives = 0;
            for (int p : units_[i].pods) {
                const RunningPod& pod = instance_.pods[static_cast<std::size_t>(p)];
                if (quotas.counts_in(pod, condition.quota)) gives += pod.ask[condition.dim];
            }
            if (gives > 0) out.push_back({gives, goes_[i]});
        }
        return out;
    }

    void keep_quotas() {
        const QuotaRules quotas(instance_);
        for (const QuotaCondition& condition : quotas.conditions()) {
            Sum sum = given(quotas, condition);
            if (!condition.at_least) {
                if (!sum.empty()) program_.at_most(std::move(sum), condition.amount);
                continue;
            }
            const int applies = program_.add_binary();
            if (condition.if_from.empty()) program_.at_least({{1, applies}}, 1);
            for (std::size_t i = 0; i < units_.size(); ++i) {
                if (units_[i].pods.empty()) continue;  // those who go along say it
                const int from = instance_.pods[static_cast<std::size_t>(units_[i].pods.front())].quota;
                if (std::ranges::find(condition.if_from, from) != condition.if_from.end())
                    program_.at_most({{1, goes_[i]}, {-1, applies}}, 0);
            }
            sum.push_back({-condition.amount, applies});
            program_.at_least(std::move(sum), 0);
        }
    }

    template <class Weight>
    void add_sum(Weight weight) {
        Term term;
        for (std::size_t i = 0; i < units_.size(); ++i) {
            const std::int64_t w = weight(units_[i]);
            if (w == 0) continue;
            term.sum.push_back({w, goes_[i]});
            term.most += w;
        }
        terms_.push_back(std::move(term));
    }

    // The largest weight among those that go.
    template <class Weight>
    void add_largest(Weight weight) {
        std::int64_t most = 0;
        for (const Unit& unit : units_)
            most = std::max<std::int64_t>(most, weight(unit));
        const int variable = program_.add_integer(std::max<std::int64_t>(most, 1));
        for (std::size_t i = 0; i < units_.size(); ++i) {
            if (const std::int64_t w = weight(units_[i]); w > 0) program_.at_most({{w, goes_[i]}, {-1, variable}}, 0);
        }
        terms_.push_back({.sum = {{1, variable}}, .most = most});
    }

    [[nodiscard]] std::int64_t priority_rank(const Unit& unit) const {
        std::set<std::int64_t> known;
        for (const Unit& u : units_)
            known.insert(u.priority);
        return 1 + std::distance(known.begin(), known.find(unit.priority));
    }

    void add_terms() {
        const Way way = instance_.demand.way;
        add_sum([](const Unit& u) { return u.violations; });
        if (way == Way::kGangPreempt) add_breaks_any();
        add_largest([&](const Unit& u) { return priority_rank(u); });
        if (way != Way::kPreempt) add_broken();
        if (way != Way::kGangPreempt) {
            add_priorities();
            return;
        }
        add_destroyed();
        add_sum([](const Unit& u) { return static_cast<std::int64_t>(u.pods.size()); });
    }

    static std::int64_t breaks(const Unit& unit) { return unit.safe ? 0 : 1; }

    void add_breaks_any() {
        add_largest(breaks);
        const int any = terms_.back().sum.front().variable;
        terms_.back().most = 1;
        for (const Breaking& b : breaking_)
            program_.at_most({{1, b.variable}, {-b.most, any}}, 0);
    }

    void add_broken() {
        add_sum(breaks);
        for (const Breaking& b : breaking_) {
            terms_.back().sum.push_back({1, b.variable});
            terms_.back().most += b.most;
        }
    }

    // Per resource the thousandths of the need that are destroyed, rounded down.
    void add_destroyed() {
        const Amounts need = need_of(instance_.demand);
        Term term;
        for (std::size_t d = 0; d < kDims; ++d) {
            if (need[d] <= 0) continue;
            Sum sum;
            std::int64_t all = 0;
            for (std::size_t i = 0; i < units_.size(); ++i) {
                std::int64_t held = 0;
                for (int pod : units_[i].pods)
                    held += instance_.pods[static_cast<std::size_t>(pod)].ask[d];
                if (held > 0) sum.push_back({1000 * held, goes_[i]});
                all += held;
            }
            const int part = program_.add_integer(1000 * all / need[d]);
            sum.push_back({-need[d], part});
            program_.at_most(sum, need[d] - 1);
            term.sum.push_back({1, part});
            term.most += 1000 * all / need[d];
        }
        terms_.push_back(std::move(term));
    }

    // The sum of priorities raised by 2^31 is the number of pods first, then the sum of priorities.
    void add_priorities() {
        std::int64_t lowest = 0;
        for (const Unit& u : units_)
            lowest = std::min(lowest, u.priority);
        add_sum([](const Unit& u) { return static_cast<std::int64_t>(u.pods.size()); });
        add_sum([&](const Unit& u) { return (u.priority - lowest) * static_cast<std::int64_t>(u.pods.size()); });
    }

    void start_term() {
        std::int64_t highest = INT64_MIN;
        std::set<std::int64_t> starts;
        for (std::size_t i = 0; i < units_.size(); ++i) {
            if (values_[static_cast<std::size_t>(goes_[i])] != 0) highest = std::max(highest, units_[i].priority);
            starts.insert(units_[i].start);
        }
        add_largest([&](const Unit& u) {
            if (u.priority != highest) return std::int64_t{0};
            return static_cast<std::int64_t>(std::distance(starts.find(u.start), starts.end()));
        });
    }

    // Minimises the terms one after another; neighbours share a question while the numbers stay small.
    Found settle() {
        constexpr std::int64_t kMostScale = 1'000'000;
        for (; settled_ < terms_.size();) {
            std::size_t last = settled_ + 1;
            std::int64_t scale = terms_[settled_].most + 1;
            while (last < terms_.size() && scale * (terms_[last].most + 1) <= kMostScale)
                scale *= terms_[last++].most + 1;
            Sum objective;
            std::int64_t weight = 1;
            for (std::size_t t = last; t-- > settled_;) {
                for (const auto& [w, variable] : terms_[t].sum)
                    objective.push_back({w * weight, variable});
                weight *= terms_[t].most + 1;
            }
            const LinearProgram::Answer answer = program_.minimise(merged(objective), seconds_);
            if (answer.status == LinearProgram::Status::kInfeasible)
                return settled_ == 0 ? Found::kImpossible : Found::kUnknown;
            if (answer.status != LinearProgram::Status::kOptimal) return Found::kUnknown;
            values_ = answer.values;
            for (; settled_ < last; ++settled_) {
                const Sum& sum = terms_[settled_].sum;
                if (!sum.empty()) program_.at_most(sum, value_of(sum, values_));
            }
        }
        return Found::kOptimum;
    }

    // A variable stands in an objective once.
    static Sum merged(const Sum& sum) {
        std::map<int, std::int64_t> weights;
        for (const auto& [w, variable] : sum)
            weights[variable] += w;
        Sum out;
        for (const auto& [variable, w] : weights)
            out.push_back({w, variable});
        return out;
    }

    const Instance& instance_;
    const Domain& domain_;
    int seconds_;
    std::vector<Unit> units_;
    LinearProgram program_;
    std::vector<int> goes_;
    // Pods of one gang that go beyond what it can spare, where pods go one by one.
    struct Breaking {
        int variable = 0;
        std::int64_t most = 0;
    };
    std::vector<Breaking> breaking_;
    std::vector<Term> terms_;
    std::size_t settled_ = 0;
    std::vector<std::int64_t> values_;
};

}  // namespace

Optimum ask_solver(const Instance& instance, int seconds) {
    Optimum best;
    if (!QuotaRules(instance).may_trigger()) return best;
    for (const Domain& domain : domains_of(instance)) {
        if (units_of(instance, domain).empty()) continue;
        const Optimum here = DomainProgram(instance, domain, seconds).solve();
        if (here.found == Found::kUnknown) return {.found = Found::kUnknown};
        if (here.found != Found::kOptimum) continue;
        if (best.found != Found::kOptimum || here.price < best.price) best = here;
    }
    return best;
}

}  // namespace reprieve::oracle
