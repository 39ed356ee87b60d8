#include "search/gang_victims.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/amount_text.h"
#include "search/cover_search.h"
#include "search/in_the_way.h"

namespace reprieve {
namespace {

constexpr std::int64_t kCountingSteps = 12'000;
constexpr std::int64_t kWorkPerMember = 4;  // to place one takes about as many microseconds
constexpr std::size_t kMostOutside = 256;   // pods outside the domain that are listed

}  // namespace

// Do the members fit with the taken units gone?
class GangVictims::Question : public FitQuestion {
public:
    explicit Question(GangVictims& owner) : owner_(owner) {}
    void take(std::uint32_t unit) override { owner_.take(unit); }
    void give(std::uint32_t unit) override { owner_.give(unit); }
    void hold(DeviceClaimId claim, bool held) override { owner_.hold(claim, held); }
    bool fits() override { return owner_.fit_.passes(); }
    bool may_fit() override { return owner_.monotone_ ? owner_.fit_.passes() : owner_.fit_.may_pass(); }
    [[nodiscard]] bool monotone() const override { return owner_.monotone_; }
    [[nodiscard]] bool certain() const override { return owner_.fit_.certain(); }
    [[nodiscard]] std::int64_t work() const override {
        return owner_.fit_.counts() ? 0 : kWorkPerMember * owner_.fit_.wanted();
    }

private:
    GangVictims& owner_;
};

GangVictims::GangVictims(
    Session& session, Placer& placer, const GangRules& rules, std::span<const PodId> members, TopologySeat seat)
    : session_(session),
      placer_(placer),
      rules_(rules),
      seat_(std::move(seat)),
      fit_(session, placer, members, seat_),
      in_domain_(session.snapshot.nodes.size()),
      need_(need_of(session.snapshot, members, fit_.need())) {
    if (is_too_small()) return;
    const Snapshot& s = session_.snapshot;
    const std::span<const NodeId> nodes =
        seat_.domain.nodes.empty() ? std::span<const NodeId>(s.nodes_by_name) : seat_.domain.nodes;
    for (NodeId node : nodes)
        in_domain_[node.index()] = true;
    // Over a queue's limit, whoever counts towards it frees it, also outside the domain.
    over_limit_ = !fit_.within_limits();
    monotone_ = session_.keep_in_mind.empty() &&
                std::ranges::all_of(members, [&](PodId p) { return session_.filters.monotone(s, p); });
    UnitFinder(session_).among(pods_in_reach(nodes), rules_.attack, list_);
    if (!rules_.allow_whole) {
        std::erase_if(list_.units, [](const Unit& u) { return u.kind == UnitKind::kWhole; });
        for (Unit& u : list_.units)
            u.whole = -1;
    }
    if (rules_.attack.local_only) {
        for (Unit& u : list_.units)
            u.whole = -1;
    }
    importance_ = order_for_return(s, list_, breakers_);
    if (rules_.pdb == PdbMode::kStrict) {
        // No set that is allowed breaks a budget.
        breakers_.clear();
        for (Unit& unit : list_.units)
            unit.violations = 0;
        std::ranges::sort(importance_, [&](std::uint32_t a, std::uint32_t b) {
            return more_important(s, list_, list_.units[a], list_.units[b]);
        });
    }
    if (rules_.breakers != nullptr) take_over_violations();
    bundles_ = make_bundles(s, list_, fit_.need(), rules_.bundles, in_domain_);
    apply_vote();
    if (rules_.pdb == PdbMode::kStrict) over_budget_ = over_budget(s, list_);
    problem_.emplace(list_,
                     Pricing{.snapshot = &s,
                             .order = rules_.order,
                             .work = rules_.work,
                             .need = &need_,
                             .queue_order = rules_.bundles.queue_order},
                     VictimProblem::Rules{.open_splits = rules_.attack.open_split,
                                          .strict_budgets = rules_.pdb == PdbMode::kStrict,
                                          .vote = rules_.vote,
                                          .vote_order = order_,
                                          .claims_devices = claims_devices()},
                     fit_.counts() && fit_.claims() == nullptr);
    taken_.resize(list_.units.size());
    rank_.resize(list_.units.size());
    place_in_order_.resize(list_.units.size());
    for (std::uint32_t i = 0; i < order_.size(); ++i)
        place_in_order_[order_[i]] = i;
    for (std::uint32_t i = 0; i < importance_.size(); ++i)
        rank_[importance_[i]] = i;
    along_of_.resize(list_.units.size());
    for (std::uint32_t u = 0; u < list_.units.size(); ++u) {
        if (list_.units[u].whole >= 0) along_of_[static_cast<std::size_t>(list_.units[u].whole)].push_back(u);
    }
    start_ = session_.tx.checkpoint();
    assess();
    if (contested_) open_splits();
}

// The pods of the domain; over a queue's limit all pods, since whoever counts towards it frees it; and pods outside
// that are in the way of a member's rules.
std::vector<PodId> GangVictims::pods_in_reach(std::span<const NodeId> nodes) {
    const Snapshot& s = session_.snapshot;
    std::vector<PodId> out;
    for (NodeId node : over_limit_ ? std::span<const NodeId>(s.nodes_by_name) : nodes) {
        out.insert(out.end(), s.node_pods[node].begin(), s.node_pods[node].end());
    }
    if (over_limit_ || seat_.domain.nodes.empty()) return out;
    std::vector<PodId> outside;
    std::vector<SpecId> seen;
    for (PodId member : fit_.members()) {
        const SpecId spec = s.class_of(member).spec;
        if (session_.filters.node_local(s, s.class_of(member)) || std::ranges::find(seen, spec) != seen.end()) continue;
        seen.push_back(spec);
        const InTheWay way(session_, Candidate(s, member));
        for (NodeId node : nodes)
            way.on(node, outside);
    }
    const std::vector<PodId> minded = in_the_way_of(session_, session_.keep_in_mind);
    outside.insert(outside.end(), minded.begin(), minded.end());
    const UnitFinder finder(session_);
    std::erase_if(outside, [&](PodId p) { return is_inside(p) || !finder.takeable(p, rules_.attack); });
    std::ranges::sort(outside);
    const auto repeated = std::ranges::unique(outside);
    outside.erase(repeated.begin(), repeated.end());
    all_in_reach_ = keep_least_important(s, kMostOutside, outside);
    out.insert(out.end(), outside.begin(), outside.end());
    return out;
}

// Most domains of a tight tier are out before anybody is looked at.
bool GangVictims::is_too_small() {
    if (!fit_.counts()) return false;
    const std::int64_t most = fit_.total_if_empty();
    if (most >= fit_.wanted() || fit_.wanted() == 1) return false;
    binding_ = fmt::format("{} holds {} of {} members even when empty", where(), most, fit_.wanted());
    none_ = Proof::nobody();
    too_small_ = true;
    return true;
}

std::string GangVictims::where() const { return seat_.domain.name.empty() ? "the cluster" : seat_.domain.name; }

bool GangVictims::vote(std::span<const std::uint32_t> units) { return problem_->allows(units); }

// One vote over all candidates in order; SAFE bundles shrink to what is allowed, WHOLE bundles need all their pods.
void GangVictims::apply_vote() {
    const auto flatten = [&] {
        order_.clear();
        for (const Bundle& bundle : bundles_)
            order_.insert(order_.end(), bundle.units.begin(), bundle.units.end());
    };
    flatten();
    if (rules_.vote == nullptr) return;
    rules_.vote->reset();
    std::vector<bool> allowed(list_.units.size());
    for (std::uint32_t u : order_) {
        if (rules_.vote_alone) rules_.vote->reset();
        allowed[u] = rules_.vote->accept(list_.pods_of(list_.units[u]));
    }
    if (!rules_.vote_alone) {
        narrowed_by_vote_ = std::ranges::any_of(order_, [&](std::uint32_t u) {
            rules_.vote->reset();
            return !allowed[u] && rules_.vote->accept(list_.pods_of(list_.units[u]));
        });
    }
    const std::vector<std::int32_t> moved = keep_allowed(list_, std::move(allowed));
    std::erase_if(importance_, [&](std::uint32_t u) { return moved[u] < 0; });
    for (std::uint32_t& u : importance_)
        u = static_cast<std::uint32_t>(moved[u]);
    bundles_ = make_bundles(session_.snapshot, list_, fit_.need(), rules_.bundles, in_domain_);
    flatten();
}

void GangVictims::take(std::uint32_t unit) {
    const auto pods = list_.pods_of(list_.units[unit]);
    for (PodId pod : pods)
        session_.tx.evict(pod);
    taken_[unit] = true;
    fit_.changed(pods);
}

void GangVictims::give(std::uint32_t unit) {
    const auto pods = list_.pods_of(list_.units[unit]);
    for (PodId pod : pods)
        session_.tx.restore(pod);
    taken_[unit] = false;
    fit_.changed(pods);
}

// A gang that goes takes its surplus pods in the domain along. Appends those that were not taken before.
void GangVictims::take_with_links(std::uint32_t unit, std::vector<std::uint32_t>& fresh) {
    const auto take_one = [&](std::uint32_t u) {
        if (taken_[u]) return;
        take(u);
        fresh.push_back(u);
    };
    take_one(unit);
    std::ranges::for_each(along_of_[unit], take_one);
}

void GangVictims::reset() {
    for (std::uint32_t u = 0; u < taken_.size(); ++u) {
        if (taken_[u]) give(u);
    }
    session_.tx.rollback(start_);
}

std::vector<std::uint32_t> GangVictims::taken_units() const {
    std::vector<std::uint32_t> out;
    for (std::uint32_t u : importance_) {
        if (taken_[u]) out.push_back(u);
    }
    return out;
}

// Everything out: if it still does not fit, no search is needed. Units without which it would not fit are in every
// solution; what they cost is a bound.
void GangVictims::assess() {
    contested_ = !list_.contests.empty();
    bound_ = least_cost();
    if (list_.units.empty()) {
        describe_binding();
        if (all_in_reach_) none_ = Proof::nobody();
        return;
    }
    for (std::uint32_t u : order_)
        take(u);
    feasible_ = fit_.passes();
    if (!feasible_) {
        contested_ = contested_ && (!monotone_ || !all_listed());
        describe_binding();
        // Members choose their devices one after the other: with more of them free the first may take what the next
        // needs.
        if (!fit_.certain() && claims_devices() && rules_.improve) monotone_ = false;
        // Where evictions do harm, a smaller set may do; the rest of the rules must let the members in all the same.
        if (!monotone_) feasible_ = fit_.may_pass();
        // What is left of the question is monotone either way.
        if (!feasible_ && fit_.certain() && all_in_reach_ && (monotone_ || rules_.improve))
            none_ = Proof::all_removed(monotone_ || rules_.improve);
        reset();
        return;
    }
    if (fit_.counts()) {
        for (std::uint32_t u : importance_) {
            give(u);
            if (!fit_.passes()) forced_.push_back(u);
            take(u);
        }
    }
    contested_ = contested_ && splits_matter();
    reset();
    force_overdrawn();
    if (!forced_.empty()) bound_ = problem_->least(forced_);
    const bool forced_do = suffice(forced_) && (!rules_.vote_alone || vote(forced_));
    if (!rules_.improve || !fit_.counts() || forced_do) return;
    cover_ = std::make_unique<CoverSearch>(*this, forced_);
    if (!cover_->usable()) {
        cover_.reset();
    } else if (const auto bound = cover_->bound()) {
        bound_ = std::max(bound_, *bound);
    }
}

GangVictims::~GangVictims() = default;

// Somebody goes, of the lowest priority there is. Nothing is known of pods that are not listed.
Cost GangVictims::least_cost() const {
    Toll least;
    least.units = 1;
    std::int32_t lowest = all_in_reach_ ? INT32_MAX : INT32_MIN;
    for (const Unit& u : list_.units)
        lowest = std::min(lowest, u.priority);
    least.add_pod(lowest, INT64_MAX);
    const bool spare = std::ranges::any_of(list_.units, [](const Unit& u) { return u.kind == UnitKind::kSafe; });
    if (!spare && all_in_reach_) least.whole_units = 1;
    return rules_.order->cost(least);
}

bool GangVictims::suffice(std::span<const std::uint32_t> units) {
    if (units.size() == list_.units.size()) return feasible_;
    for (std::uint32_t u : units)
        take(u);
    const bool enough = fit_.passes();
    reset();
    return enough;
}

void GangVictims::describe_binding() {
    const Snapshot& s = session_.snapshot;
    if (const std::string breach = fit_.limit_breach(); !breach.empty()) {
        binding_ = breach + " even without all that may be evicted";
        return;
    }
    if (fit_.wanted() == 1) {
        const std::string inside = seat_.domain.name.empty() ? "" : " in " + seat_.domain.name;
        binding_ = fmt::format("no node{} can be freed by {}", inside, rules_.means);
        return;
    }
    if (fit_.counts()) {
        binding_ = fmt::format("{} holds {} of {} members even without all that may be evicted",
                               where(),
                               std::min(fit_.total(), fit_.wanted()),
                               fit_.wanted());
        return;
    }
    for (const auto& [dim, value] : fit_.need()) {
        std::int64_t free = 0;
        for (NodeId node : s.nodes_by_name)
            free += in_domain_[node.index()] ? std::max<std::int64_t>(s.later.free(node, dim), 0) : 0;
        if (free < value) {
            const std::string_view resource = s.words->text(dim);
            binding_ = fmt::format("{} can free {} of {} {}",
                                   where(),
                                   amount_text(resource, free),
                                   amount_text(resource, value),
                                   resource);
            return;
        }
    }
    binding_ = fmt::format("{} cannot hold all members together even without all that may be evicted", where());
}

bool GangVictims::claims_devices() const {
    const Snapshot& s = session_.snapshot;
    return session_.filters.on(FilterId::kDynamicResources) &&
           std::ranges::any_of(fit_.members(), [&](PodId p) { return s.class_of(p).has_claims; });
}

void GangVictims::hold(DeviceClaimId claim, bool held) {
    session_.tx.pretend_user(claim, held ? +1 : -1);
    fit_.changed(session_.snapshot.device_claims.row(claim).pods);
}

// REQUIRES: where units share claims, exactly these are taken, and the members fit.
Cost GangVictims::cost_of(std::span<const std::uint32_t> units) {
    if (problem_->shared().empty()) return problem_->cost(units);
    return problem_->cost(units, needed(units, problem_->shared()));
}

std::vector<const SharedClaims::Claim*> GangVictims::needed(std::span<const std::uint32_t> units,
                                                            const SharedClaims& shared) {
    return shared.needed(
        units, [&](DeviceClaimId claim, bool held) { hold(claim, held); }, [&] { return fit_.passes(); });
}

// The list of a choice may be that of another split: its pods are taken one by one.
void GangVictims::name_claims(GangChoice& choice) {
    if (problem_->shared().empty() && !(open_ && !open_->problem_->shared().empty())) return;
    const SharedClaims shared(session_.snapshot, choice.list, true);
    const auto start = session_.tx.checkpoint();
    std::vector<PodId> pods;
    for (std::uint32_t u : choice.chosen) {
        for (PodId pod : choice.list.pods_of(choice.list.units[u])) {
            session_.tx.evict(pod);
            pods.push_back(pod);
        }
    }
    fit_.changed(pods);
    const auto claims = needed(choice.chosen, shared);
    session_.tx.rollback(start);
    fit_.changed(pods);
    const JoinedUnits joined(choice.list, choice.chosen, claims);
    for (const JoinedUnits::Group& group : joined.groups()) {
        for (std::uint32_t u : group.units)
            choice.list.units[u].claim = group.claim;
    }
}

// Takes the unit with what goes along; gives it back if the vote is against it. Says whether it is taken.
bool GangVictims::take_if_allowed(std::uint32_t unit) {
    std::vector<std::uint32_t> fresh;
    take_with_links(unit, fresh);
    if (!rules_.vote_alone || rules_.vote == nullptr) return true;
    // Those who were taken before have voted; the others vote in the order of the bundles.
    std::ranges::sort(fresh, {}, [&](std::uint32_t u) { return place_in_order_[u]; });
    std::size_t accepted = 0;
    while (accepted < fresh.size() && rules_.vote->accept(list_.pods_of(list_.units[fresh[accepted]])))
        ++accepted;
    if (accepted == fresh.size() && rules_.vote->passes()) return true;
    for (std::size_t i = 0; i < accepted; ++i)
        rules_.vote->withdraw(list_.pods_of(list_.units[fresh[i]]));
    for (std::uint32_t u : fresh)
        give(u);
    return false;
}

bool GangVictims::select_by_bundles() {
    if (rules_.vote != nullptr) rules_.vote->reset();
    // Who may not go now may go once others have gone, too.
    for (bool more = true; more;) {
        more = false;
        for (std::uint32_t u : order_) {
            if (fit_.passes()) return true;
            if (!taken_[u] && !stays_put(u) && take_if_allowed(u)) more = true;
        }
    }
    return fit_.passes();
}

void GangVictims::give_back() {
    std::vector<std::uint32_t> standing = taken_units();
    const auto give_if_possible = [&](std::uint32_t u) {
        const std::int32_t whole = list_.units[u].whole;
        if (!taken_[u] || (whole >= 0 && taken_[static_cast<std::size_t>(whole)])) return;  // its gang goes
        const auto at = std::ranges::find(standing, u) - standing.begin();
        give(u);
        if (fit_.passes()) {
            standing.erase(standing.begin() + at);
            if (vote(standing)) return;
            standing.insert(standing.begin() + at, u);
        }
        take(u);
    };
    std::ranges::for_each(taken_units(), give_if_possible);
    // A gang that stayed may now spare fewer or more of its surplus: ask those again.
    for (std::uint32_t u : taken_units()) {
        if (list_.units[u].kind == UnitKind::kSafe) give_if_possible(u);
    }
}

void GangVictims::note_runner_up(std::span<const std::uint32_t> units, const Cost& cost, GangChoice& best) {
    if (!std::ranges::equal(best.chosen, units)) best.runner_up = std::min(best.runner_up.value_or(cost), cost);
}

void GangVictims::keep_best(std::optional<GangChoice>& best) {
    const std::vector<std::uint32_t> units = taken_units();
    if (!vote(units)) return;
    const Cost cost = cost_of(units);
    if (best && !(cost < best->cost)) return note_runner_up(units, cost, *best);
    best = GangChoice{.seat = seat_,
                      .list = list_,
                      .chosen = units,
                      .cost = cost,
                      .bound = bound_,
                      .exact = false,
                      .runner_up = best ? std::optional(best->cost) : std::nullopt};
}

// Whatever costs no less than the limit is of no interest: a choice of nobody at that cost stands in for it.
template <class Search>
void GangVictims::search_below(const Cost* limit, std::optional<GangChoice>& best, Search search) {
    std::optional<GangChoice> target = best;
    const bool stands_in = limit != nullptr && !(best && best->cost < *limit);
    if (stands_in) {
        target = GangChoice{.seat = seat_,
                            .list = {},
                            .chosen = {},
                            .cost = *limit,
                            .bound = bound(),
                            .exact = false,
                            .runner_up = std::nullopt};
    }
    search(target);
    if (target) learned_ = std::max(bound(), target->bound);
    if (!stands_in || !target->chosen.empty()) {
        best = std::move(target);
    } else if (best) {
        best->bound = target->bound;
        best->exact = !(best->bound < best->cost);
    }
}

std::optional<GangChoice> GangVictims::find(std::int64_t budget, const Cost* limit) {
    constexpr std::int64_t kPartForOrder = 4;  // of the work, where other splits are looked at too
    std::optional<GangChoice> best;
    spent_ = 0;
    if (select_by_bundles()) {
        give_back();
        keep_best(best);
    }
    reset();
    if (!best && !over_budget_.empty()) {
        // Budgets limit the set, not the order: whoever spends them first may come back in the end.
        std::vector<bool> over;
        over.swap(over_budget_);
        if (select_by_bundles()) {
            give_back();
            keep_best(best);
        }
        reset();
        over_budget_.swap(over);
    }
    if (rules_.improve) {
        if (select_by_slots()) {
            give_back();
            keep_best(best);
        }
        reset();
        search_below(
            limit, best, [&](auto& target) { search_exactly(target, open_ ? budget / kPartForOrder : budget); });
    }
    if (best && rules_.improve) settle_ties(*best);
    if (best && !best->runner_up) find_runner_up(best);
    if (open_) search_below(limit, best, [&](auto& target) { search_other_splits(target, budget - spent_); });
    settle_proof(best);
    if (best) name_claims(*best);
    return best;
}

// What was proven speaks of every split of a gang's surplus, or it is not proven.
void GangVictims::settle_proof(std::optional<GangChoice>& best) {
    ruled_out_ = !best && (open_ ? open_->finished_ : finished_ && !contested_) && all_in_reach_;
    if (!best || (all_in_reach_ && (open_ || !contested_))) return;
    best->bound = std::min(best->bound, least_cost());
    best->exact = !(best->bound < best->cost);
    learned_ = best->bound;
}

std::optional<GangChoice> GangVictims::find_cheaper(std::int64_t budget, const Cost* limit) {
    std::optional<GangChoice> best;
    spent_ = 0;
    search_below(limit, best, [&](auto& target) {
        if (open_)
            search_other_splits(target, budget);
        else
            search_exactly(target, budget);
    });
    settle_proof(best);
    if (best) name_claims(*best);
    return best;
}

void GangVictims::search_exactly(std::optional<GangChoice>& best, std::int64_t budget) {
    if (best && !(bound_ < best->cost)) {
        best->exact = true;
        best->bound = best->cost;
        finished_ = true;
        return;
    }
    if (cover_) {
        const std::int64_t before = cover_->work();
        const Cost bound = std::max(bound_, cover_->run(best, budget));
        spent_ += cover_->work() - before;
        finished_ = cover_->finished();
        if (best) {
            best->bound = bound;
            best->exact = !(bound < best->cost);
        }
        if (finished_ || (best && best->exact)) return;
    }
    search_sets(best, budget);
}

void GangVictims::search_sets(std::optional<GangChoice>& best, std::int64_t budget) {
    const Cost known = best ? best->bound : bound_;
    WorkBudget work(fit_.counts() ? std::min(kCountingSteps, budget) : budget);
    const std::int64_t before = work.left();
    Question question(*this);
    const Cost limit = best ? best->cost : Cost{};
    SetAnswer answer = SetSearch(*problem_, question, work).run(best ? &limit : nullptr);
    reset();
    spent_ += before - work.left();
    finished_ = answer.proof.has_value();
    if (answer.found) {
        best = GangChoice{.seat = seat_,
                          .list = list_,
                          .chosen = std::move(answer.chosen),
                          .cost = answer.cost,
                          .bound = known,
                          .exact = false,
                          .runner_up = best && !best->chosen.empty() ? std::optional(best->cost) : std::nullopt};
    }
    if (!best) return;
    best->bound = finished_ ? best->cost : std::max(best->bound, std::min(known, best->cost));
    best->exact = !(best->bound < best->cost);
}

}  // namespace reprieve
