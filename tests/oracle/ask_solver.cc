#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>

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
    // Only what costs no more than these terms is of interest, if there are any.
    DomainProgram(const Instance& instance, const Domain& domain, int seconds, const std::vector<std::int64_t>& limit)
        : instance_(instance),
          domain_(domain),
          seconds_(seconds),
          limit_(limit),
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

    // Impossible: or not within the limit.
    Optimum solve() {
        add_terms();
        const Found first = settle();
        if (first != Found::kOptimum) return {.found = first, .price = {}, .domain = domain_.name};
        if (instance_.demand.way == Way::kPreempt) {
            // Of the most important victims the youngest; who they are is known only now.
            start_term();
            const Found second = settle();
            if (second != Found::kOptimum) return {.found = second, .price = {}, .domain = domain_.name};
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

    // The value of each term in the order of the cost, comparable between domains.
    [[nodiscard]] const std::vector<std::int64_t>& term_values() const { return term_values_; }

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
        std::map<int, std::map<std::size_t, Amounts>> gives;
        for (std::size_t i = 0; i < units_.size(); ++i) {
            for (int p : units_[i].pods) {
                const RunningPod& pod = instance_.pods[static_cast<std::size_t>(p)];
                add_to(gives[pod.node][i], pod.ask);
            }
        }
        std::map<int, std::map<Amounts, int>> seats;
        for (const auto& [shape, count] : shapes) {
            Sum all;
            for (int node : domain_.nodes) {
                const int seat = program_.add_integer(count);
                seats[node][shape] = seat;
                all.push_back({1, seat});
                need_each(seat, shape, count, free_on(instance_, node), gives[node]);
            }
            program_.equal(all, count);
        }
        for (int node : domain_.nodes)
            keep_room(free_on(instance_, node), seats[node], gives[node]);
    }

    static void add_to(Amounts& sum, const Amounts& amounts) {
        for (std::size_t d = 0; d < kDims; ++d)
            sum[d] += amounts[d];
    }

    // Rows that the room alone implies for whole numbers, not for fractions: without one of those that may go, a node
    // holds so many fewer. They are what makes large programs solvable.
    void need_each(
        int seat, const Amounts& shape, std::int64_t count, Amounts room, const std::map<std::size_t, Amounts>& gives) {
        for (const auto& [unit, amounts] : gives)
            add_to(room, amounts);
        const std::int64_t all_gone = std::min(count, how_many(room, shape));
        program_.at_most({{1, seat}}, all_gone);
        for (const auto& [unit, amounts] : gives) {
            Amounts without = room;
            for (std::size_t d = 0; d < kDims; ++d)
                without[d] -= amounts[d];
            const std::int64_t fewer = how_many(without, shape);
            if (fewer < all_gone) program_.at_most({{1, seat}, {fewer - all_gone, goes_[unit]}}, fewer);
        }
    }

    void keep_room(const Amounts& room,
                   const std::map<Amounts, int>& seats,
                   const std::map<std::size_t, Amounts>& gives) {
        std::set<std::vector<std::int64_t>> said;  // rows that are multiples of each other say the same
        for (std::size_t d = 0; d < kDims; ++d) {
            Sum use;
            std::int64_t divisor = 0;
            for (const auto& [shape, seat] : seats) {
                if (shape[d] > 0) use.push_back({shape[d], seat});
            }
            if (use.empty()) continue;
            for (const auto& [unit, amounts] : gives) {
                if (amounts[d] > 0) use.push_back({-amounts[d], goes_[unit]});
            }
            for (const Weighted& w : use)
                divisor = std::gcd(divisor, w.weight);
            std::vector<std::int64_t> row;
            for (Weighted& w : use) {
                w.weight /= divisor;
                row.insert(row.end(), {w.weight, w.variable});
            }
            const std::int64_t limit = floor_of(room[d], divisor);
            row.push_back(limit);
            if (said.insert(std::move(row)).second) program_.at_most(std::move(use), limit);
        }
    }

    static std::int64_t floor_of(std::int64_t value, std::int64_t divisor) {
        return value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor);
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

    // Among all priorities that run, so that other domains say the same.
    [[nodiscard]] std::int64_t priority_rank(const Unit& unit) const {
        std::set<std::int64_t> known;
        for (const RunningPod& pod : instance_.pods)
            known.insert(pod.priority);
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
        } else {
            add_destroyed();
            add_sum([](const Unit& u) { return static_cast<std::int64_t>(u.pods.size()); });
        }
        const std::vector<std::string> names = term_names(instance_);
        if (std::ranges::find(names, "ownPriority") != names.end()) add_own_priorities();
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
        std::map<std::vector<std::int64_t>, int> parts;  // resources that always go in step share one
        for (std::size_t d = 0; d < kDims; ++d) {
            if (need[d] <= 0) continue;
            std::vector<std::int64_t> held(units_.size());
            std::int64_t divisor = need[d];
            for (std::size_t i = 0; i < units_.size(); ++i) {
                for (int pod : units_[i].pods)
                    held[i] += instance_.pods[static_cast<std::size_t>(pod)].ask[d];
                divisor = std::gcd(divisor, held[i]);
            }
            for (std::int64_t& h : held)
                h /= divisor;
            held.push_back(need[d] / divisor);
            const std::int64_t most =
                1000 * std::accumulate(held.begin(), held.end() - 1, std::int64_t{0}) / held.back();
            const auto [at, is_new] = parts.try_emplace(held, 0);
            if (is_new) at->second = add_part(held, most);
            term.sum.push_back({1, at->second});
            term.most += most;
        }
        term.sum = merged(term.sum);
        terms_.push_back(std::move(term));
    }

    // What the units hold, and last what is needed.
    int add_part(const std::vector<std::int64_t>& held, std::int64_t most) {
        Sum sum;
        for (std::size_t i = 0; i < units_.size(); ++i) {
            if (held[i] > 0) sum.push_back({1000 * held[i], goes_[i]});
        }
        const int part = program_.add_integer(most);
        sum.push_back({-held.back(), part});
        program_.at_most(std::move(sum), held.back() - 1);
        return part;
    }

    // The sum of priorities raised by 2^31 is the number of pods first, then the sum of priorities.
    void add_priorities() {
        std::int64_t lowest = 0;
        for (const RunningPod& pod : instance_.pods)
            lowest = std::min(lowest, pod.priority);
        add_sum([](const Unit& u) { return static_cast<std::int64_t>(u.pods.size()); });
        add_sum([&](const Unit& u) { return (u.priority - lowest) * static_cast<std::int64_t>(u.pods.size()); });
    }

    // What the victims are worth by themselves. The number of pods is settled by then, so that the same for each of
    // them, which keeps the weights positive, changes nothing.
    void add_own_priorities() {
        const std::int64_t lowest = std::ranges::min(instance_.pods, {}, &RunningPod::priority).priority;
        add_sum([&](const Unit& u) {
            std::int64_t sum = 0;
            for (int pod : u.pods)
                sum += instance_.pods[static_cast<std::size_t>(pod)].priority - lowest + 1;
            return sum;
        });
    }

    void start_term() {
        std::int64_t highest = INT64_MIN;
        std::set<std::int64_t> starts;
        for (const RunningPod& pod : instance_.pods)
            starts.insert(pod.start);
        for (std::size_t i = 0; i < units_.size(); ++i) {
            if (values_[static_cast<std::size_t>(goes_[i])] != 0) highest = std::max(highest, units_[i].priority);
        }
        add_largest([&](const Unit& u) {
            if (u.priority != highest) return std::int64_t{0};
            return static_cast<std::int64_t>(std::distance(starts.find(u.start), starts.end()));
        });
    }

    // Minimises the terms one after another; neighbours share a question while the numbers stay small.
    Found settle() {
        constexpr std::int64_t kMostScale = 1'000'000;
        while (settled_ < terms_.size()) {
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
            if (at_limit() && !terms_[settled_].sum.empty()) program_.at_most(terms_[settled_].sum, limit_[settled_]);
            const LinearProgram::Answer answer = program_.minimise(merged(objective), seconds_);
            if (answer.status == LinearProgram::Status::kInfeasible)
                return settled_ == 0 || at_limit() ? Found::kImpossible : Found::kUnknown;
            if (answer.status != LinearProgram::Status::kOptimal) return Found::kUnknown;
            values_ = answer.values;
            for (; settled_ < last; ++settled_) {
                const Sum& sum = terms_[settled_].sum;
                term_values_.push_back(value_of(sum, values_));
                if (!sum.empty()) program_.at_most(sum, term_values_.back());
            }
            if (beyond_limit()) return Found::kImpossible;
        }
        return Found::kOptimum;
    }

    [[nodiscard]] bool at_limit() const {
        return !limit_.empty() && std::ranges::equal(term_values_, std::span(limit_).first(term_values_.size()));
    }
    [[nodiscard]] bool beyond_limit() const {
        return !limit_.empty() &&
               std::ranges::lexicographical_compare(std::span(limit_).first(term_values_.size()), term_values_);
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
    std::vector<std::int64_t> limit_;
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
    std::vector<std::int64_t> term_values_;
};

}  // namespace

Optimum ask_solver(const Instance& instance, int seconds) {
    Optimum best;
    std::vector<std::int64_t> least;
    if (!QuotaRules(instance).may_trigger()) return best;
    for (const Domain& domain : domains_of(instance)) {
        if (units_of(instance, domain).empty()) continue;
        DomainProgram program(instance, domain, seconds, least);
        const Optimum here = program.solve();
        if (here.found == Found::kUnknown) return {.found = Found::kUnknown};
        if (here.found != Found::kOptimum) continue;
        if (best.found == Found::kOptimum && here.price >= best.price) continue;
        best = here;
        least = program.term_values();
    }
    return best;
}

}  // namespace reprieve::oracle
