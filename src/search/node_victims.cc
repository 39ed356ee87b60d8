#include "search/node_victims.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "base/check.h"
#include "plugins/limits.h"
#include "search/open_split.h"
#include "search/placement_stands.h"
#include "search/whole_devices.h"

namespace reprieve {
namespace {

constexpr std::size_t kMostElsewhere = 256;    // pods of other nodes that are listed for one node
constexpr std::int64_t kStepsPerNode = 2'000;  // where every node is looked at, by arithmetic

}  // namespace

// The question by arithmetic: what the taken units free against what is missing.
class NodeVictims::Amounts : public FitQuestion {
public:
    Amounts(const NodeVictims& owner, NodeId node, const UnitList& list) : needed_(owner.shortages(node)) {
        freed_.reserve(list.units.size() * needed_.size());
        for (const Unit& unit : list.units) {
            for (const Shortage& what : needed_)
                freed_.push_back(owner.freed(list, unit, node, what));
        }
        for (const Shortage& what : needed_)
            missing_.push_back(what.missing);
    }
    void take(std::uint32_t unit) override { change(unit, -1); }
    void give(std::uint32_t unit) override { change(unit, +1); }
    bool fits() override {
        return std::ranges::all_of(missing_, [](std::int64_t m) { return m <= 0; });
    }
    [[nodiscard]] bool monotone() const override { return true; }
    [[nodiscard]] std::int64_t work() const override { return 0; }
    [[nodiscard]] bool known_to_suffice(std::span<const std::uint32_t> units) const override {
        for (std::size_t d = 0; d < needed_.size(); ++d) {
            std::int64_t missing = needed_[d].missing;
            for (std::uint32_t u : units)
                missing -= freed_[u * needed_.size() + d];
            if (missing > 0) return false;
        }
        return true;
    }

private:
    void change(std::uint32_t unit, int sign) {
        for (std::size_t d = 0; d < missing_.size(); ++d)
            missing_[d] += sign * freed_[unit * missing_.size() + d];
    }

    Shortages needed_;
    std::vector<std::int64_t> missing_;
    std::vector<std::int64_t> freed_;  // unit x shortage
};

// The question asked of the state, with the taken units evicted in the transaction.
class NodeVictims::DryRun : public FitQuestion {
public:
    DryRun(NodeVictims& owner, NodeId node, const UnitList& list)
        : owner_(owner),
          node_(node),
          list_(list),
          uncertain_(owner.session_.filters.uncertain_answers()) {}
    void take(std::uint32_t unit) override {
        for (PodId pod : list_.pods_of(list_.units[unit]))
            owner_.session_.tx.evict(pod);
    }
    void give(std::uint32_t unit) override {
        for (PodId pod : list_.pods_of(list_.units[unit]))
            owner_.session_.tx.restore(pod);
    }
    void hold(DeviceClaimId claim, bool held) override { owner_.session_.tx.pretend_user(claim, held ? +1 : -1); }
    bool fits() override { return owner_.passes(node_); }
    bool may_fit() override { return monotone() ? fits() : owner_.may_pass(node_); }
    [[nodiscard]] bool monotone() const override { return owner_.monotone_; }
    [[nodiscard]] bool certain() const override { return owner_.session_.filters.uncertain_answers() == uncertain_; }
    [[nodiscard]] std::int64_t work() const override { return 2; }

private:
    NodeVictims& owner_;
    NodeId node_;
    const UnitList& list_;
    std::int64_t uncertain_;  // answers, when it was made
};

NodeVictims::NodeVictims(Session& session, const VictimRules& rules, const Asker& asker, WorkBudget& budget)
    : session_(session),
      rules_(rules),
      asker_(asker),
      budget_(budget),
      candidate_(session.snapshot, asker.pod),
      finder_(session),
      way_(asker.alone ? InTheWay(session) : InTheWay(session, candidate_)) {
    const Snapshot& s = session.snapshot;
    // Beyond this many resources the arithmetic has no place for them; the dry run has.
    few_amounts_ = asker.amounts.size() <= kMostShortages / 2;
    const PodClass& cls = candidate_.cls;
    const bool plain = asker.alone ? !cls.has_ports && !cls.has_devices && !cls.has_claims && cls.volumes.empty()
                                   : session.filters.amounts_only(s, cls);
    amounts_only_ = few_amounts_ && (asker.resize || (plain && session.filters.on(FilterId::kNodeResourcesFit)));
    monotone_ = (asker.resize || asker.alone || session.filters.monotone(s, asker.pod)) && session.keep_in_mind.empty();
    limit_binds_ = !session.limits.admit(s.later, asker.pod, asker.amounts);
    if (limit_binds_) find_relief();
    minded_ = in_the_way_of(session, session.keep_in_mind);
    // How much of its need is destroyed is a matter of the pod; so is whom a strict budget leaves to the search.
    by_shortage_ = read_only() && !limit_binds_ && !asker.resize && !asker.alone && rules.pdb != PdbMode::kStrict &&
                   !rules.order->has(CostTerm::kResources) && !looks_elsewhere();
    if (!asker.resize && !asker.alone) second_.emplace(session, asker.pod);
}

Pricing NodeVictims::pricing() const {
    return {.snapshot = &session_.snapshot,
            .order = rules_.order,
            .work = rules_.work,
            .need = rules_.need,
            .queue_order = {}};
}

bool NodeVictims::claims_devices() const {
    return !asker_.resize && candidate_.cls.has_claims && session_.filters.on(FilterId::kDynamicResources);
}

Cost NodeVictims::cost_of(NodeId node, const UnitList& list, std::span<const std::uint32_t> chosen) {
    const Pricing price = pricing();
    if (!claims_devices() || !price.counts_units()) return price.cost(list, chosen);
    const SharedClaims shared(session_.snapshot, list, true);
    return shared.empty() ? price.cost(list, chosen) : price.cost(list, chosen, needed(node, list, chosen, shared));
}

// Which of the claims that these units share the pod needs.
std::vector<const SharedClaims::Claim*> NodeVictims::needed(NodeId node,
                                                            const UnitList& list,
                                                            std::span<const std::uint32_t> chosen,
                                                            const SharedClaims& shared) {
    const auto start = session_.tx.checkpoint();
    for (std::uint32_t u : chosen) {
        for (PodId pod : list.pods_of(list.units[u]))
            session_.tx.evict(pod);
    }
    auto out = shared.needed(
        chosen,
        [&](DeviceClaimId claim, bool held) { session_.tx.pretend_user(claim, held ? +1 : -1); },
        [&] { return passes(node); });
    session_.tx.rollback(start);
    return out;
}

void NodeVictims::name_claims(NodeId node, Victims& victims) {
    if (!claims_devices() || !pricing().counts_units()) return;
    const SharedClaims shared(session_.snapshot, victims.list, true);
    if (shared.empty()) return;
    const auto claims = needed(node, victims.list, victims.chosen, shared);
    const JoinedUnits joined(victims.list, victims.chosen, claims);
    for (const JoinedUnits::Group& group : joined.groups()) {
        for (std::uint32_t u : group.units)
            victims.list.units[u].claim = group.claim;
    }
}

// The queue is over its limit: whoever counts towards the same limit frees it, wherever it runs. Of pods that give the
// same and cost the same no more are worth listing than would free the limit by themselves: the others could be
// exchanged for these, which are less important.
void NodeVictims::find_relief() {
    const Snapshot& s = session_.snapshot;
    if (!asker_.resize)
        limit_rules_ = session_.limits.rules(s.later, session_.limits.ask_of(std::span(&asker_.pod, 1)));
    if (limit_rules_ && limit_rules_->size() > kMostShortages / 2) limit_rules_.reset();
    const auto resizing = [&](const PodRow& row) { return row.has(kResizing) && row.state == PodState::kRunning; };
    if (std::ranges::any_of(s.pods, resizing)) limit_rules_.reset();  // what such a pod gives back is not what it asks
    const bool alike_by_gift = limit_rules_ && amounts_only_;
    using Key = std::tuple<std::vector<std::int64_t>, std::int32_t, std::vector<BudgetId>, std::int64_t>;
    std::map<Key, std::vector<PodId>> groups;
    std::map<QueueId, bool> shares;
    for (NodeId node : s.nodes_by_name) {
        for (PodId pod : s.node_pods[node]) {
            const PodRow& row = s.pods[pod];
            if (row.state != PodState::kRunning) continue;
            const auto [at, fresh] = shares.try_emplace(row.queue);
            if (fresh) at->second = session_.limits.shared(row.queue, s.pods[asker_.pod].queue);
            if (!at->second || !finder_.takeable(pod, rules_.attack)) continue;
            Key key;
            if (alike_by_gift && !row.gang) {
                for (const GiveRule& rule : *limit_rules_) {
                    const auto& path = s.queue_path[row.queue];
                    const bool counts = std::ranges::find(path, rule.queue) != path.end();
                    std::get<0>(key).push_back(counts ? room_of(s, pod, rule.dim) : 0);
                }
                std::get<1>(key) = row.unit_priority;
                std::get<2>(key) = s.class_of(pod).budgets;
                if (rules_.order->has(CostTerm::kLostWork) && rules_.work)
                    std::get<3>(key) = lost_work(s, pod, rules_.work);
            }
            groups[key].push_back(pod);
        }
    }
    for (auto& [key, pods] : groups) {
        std::size_t most = pods.size();
        const std::vector<std::int64_t>& gifts = std::get<0>(key);
        if (!gifts.empty()) {
            most = 0;
            for (std::size_t r = 0; r < gifts.size(); ++r) {
                if (gifts[r] > 0)
                    most =
                        std::max(most, static_cast<std::size_t>(((*limit_rules_)[r].amount + gifts[r] - 1) / gifts[r]));
            }
        }
        static_cast<void>(keep_least_important(s, most, pods));
        relief_.insert(relief_.end(), pods.begin(), pods.end());
    }
    if (relief_.size() <= kMostElsewhere) return;
    // Of equal priority those that give most: fewer of them are needed.
    const auto gives = [&](PodId p) {
        return limit_rules_ && !limit_rules_->empty() ? room_of(s, p, limit_rules_->front().dim) : 0;
    };
    std::ranges::sort(relief_, [&](PodId a, PodId b) {
        if (s.pods[a].unit_priority != s.pods[b].unit_priority || gives(a) == gives(b)) return goes_before(s, a, b);
        return gives(a) > gives(b);
    });
    relief_.resize(kMostElsewhere);
    relief_complete_ = false;
}

bool NodeVictims::others_hold() const {
    return std::ranges::all_of(session_.keep_in_mind, [&](PodId pod) { return placement_stands(session_, pod); });
}

bool NodeVictims::passes(NodeId node) const {
    Snapshot& s = session_.snapshot;
    if (!session_.limits.admit(s.later, asker_.pod, asker_.amounts)) return false;
    if (asker_.resize) {
        return std::ranges::all_of(asker_.amounts,
                                   [&](const auto& a) { return a.value <= 0 || s.later.free(node, a.dim) >= a.value; });
    }
    if (asker_.alone) return session_.filters.check_local(candidate_, s.later, node).fits();
    if (!session_.filters.check_view(candidate_, s.later, s.later, node).fits()) return false;
    return second_->passes(node) && others_hold();
}

bool NodeVictims::may_pass(NodeId node) const {
    const Snapshot& s = session_.snapshot;
    return session_.limits.admit(s.later, asker_.pod, asker_.amounts) &&
           session_.filters.check_monotone(candidate_, s.later, node).fits();
}

bool NodeVictims::counts_on(NodeId node) const {
    if (minds_others() || !limit_is_arithmetic() || !few_amounts_) return false;
    if (amounts_only_) return true;
    const Snapshot& s = session_.snapshot;
    const PodClass& cls = candidate_.cls;
    return !cls.has_ports && !cls.has_claims && cls.volumes.empty() &&
           (asker_.alone || session_.filters.node_local(s, cls)) && session_.filters.on(FilterId::kNodeResourcesFit) &&
           devices_by_amounts(session_, s.words->spec(cls.spec).devices, node);
}

NodeVictims::Shortages NodeVictims::shortages(NodeId node) const {
    const Snapshot& s = session_.snapshot;
    Shortages out;
    for (const auto& [dim, value] : asker_.amounts) {
        if (value > 0 && s.later.free(node, dim) < value)
            out.add({.dim = dim, .missing = value - s.later.free(node, dim)});
    }
    if (!limit_binds_ || !limit_rules_) return out;
    for (std::size_t r = 0; r < limit_rules_->size(); ++r)
        out.add({.dim = (*limit_rules_)[r].dim,
                 .rule = static_cast<std::int32_t>(r),
                 .missing = (*limit_rules_)[r].amount});
    return out;
}

std::int64_t NodeVictims::freed(const UnitList& list, const Unit& unit, NodeId node, const Shortage& what) const {
    const Snapshot& s = session_.snapshot;
    std::int64_t sum = 0;
    for (PodId pod : list.pods_of(unit)) {
        bool counts = s.pods[pod].node == node;
        if (what.rule >= 0) {
            const QueueId queue = s.pods[pod].queue;
            const QueueId giver = (*limit_rules_)[static_cast<std::size_t>(what.rule)].queue;
            counts = queue && std::ranges::find(s.queue_path[queue], giver) != s.queue_path[queue].end();
        }
        if (counts) sum += room_of(s, pod, what.dim);
    }
    return sum;
}

void NodeVictims::list_local(NodeId node, UnitList& list) {
    list.clear();
    finder_.on_node(node, rules_.attack, list);
}

bool NodeVictims::list_all(NodeId node, bool open, UnitList& list) {
    const Snapshot& s = session_.snapshot;
    list.clear();
    pods_.clear();
    way_.on(node, pods_);
    for (const std::vector<PodId>* more : {&minded_, &relief_}) {
        for (PodId pod : *more) {
            if (s.pods[pod].state == PodState::kRunning && s.pods[pod].node != node &&
                (!looks_elsewhere() || std::ranges::find(pods_, pod) == pods_.end()))
                pods_.push_back(pod);
        }
    }
    std::erase_if(pods_, [&](PodId p) { return !finder_.takeable(p, rules_.attack); });
    const bool complete = keep_least_important(s, kMostElsewhere, pods_) && (relief_complete_ || !limit_binds_);
    const std::vector<PodId>& here = s.node_pods[node];
    pods_.insert(pods_.begin(), here.begin(), here.end());
    Attack attack = rules_.attack;
    if (open) {
        attack.open_split = true;
        attack.open_single = rules_.order->has(CostTerm::kBreaksGangs) || rules_.order->has(CostTerm::kGangsBroken);
    }
    finder_.among(pods_, attack, list);
    return complete;
}

// Inside a gang the pods' own priority orders: among the places of its surplus, the higher comes back first.
void NodeVictims::spare_worthier_members(const UnitList& list) {
    if (!rules_.order->has(CostTerm::kOwnPriority)) return;  // nobody's differs from its gang's
    const auto own = [&](std::uint32_t u) { return session_.snapshot.pods[list.pods[list.units[u].first]].priority; };
    std::map<std::pair<GangId, bool>, std::vector<std::size_t>> surplus;  // of a gang, by whether it breaks a budget
    for (std::size_t i = 0; i < return_order_.size(); ++i) {
        const Unit& unit = list.units[return_order_[i]];
        if (unit.gang && unit.kind == UnitKind::kSafe) surplus[{unit.gang, unit.violations > 0}].push_back(i);
    }
    for (const auto& [gang, places] : surplus) {
        std::vector<std::uint32_t> units;
        for (std::size_t i : places)
            units.push_back(return_order_[i]);
        std::ranges::stable_sort(units, std::greater(), own);
        for (std::size_t i = 0; i < places.size(); ++i)
            return_order_[places[i]] = units[i];
    }
}

// Budget breakers first, each group from most to least important.
void NodeVictims::order_for_return(UnitList& list) {
    return_order_ = by_importance_;
    if (!session_.snapshot.budgets.empty())
        std::ranges::stable_partition(return_order_, [&](std::uint32_t i) { return list.units[i].violations > 0; });
    spare_worthier_members(list);
    // A gang's WHOLE part comes back before its SAFE pods, so that they are decided knowing whether the gang stays.
    for (std::size_t i = 0; i < return_order_.size(); ++i) {
        const std::int32_t whole = list.units[return_order_[i]].whole;
        if (whole < 0) continue;
        const auto at = std::ranges::find(return_order_, static_cast<std::uint32_t>(whole));
        if (at - return_order_.begin() > static_cast<std::ptrdiff_t>(i))
            std::rotate(return_order_.begin() + static_cast<std::ptrdiff_t>(i), at, at + 1);
    }
}

bool NodeVictims::is_missing_within(const ShortageRange& range, NodeId node) const {
    const std::int64_t* free = session_.snapshot.later.free_row(node);
    const std::span<const ShortageRange::Span> spans = range.spans();
    std::size_t short_of = 0;
    for (const auto& [dim, value] : asker_.amounts) {
        const std::int64_t missing = value - free[dim.index()];
        if (value <= 0 || missing <= 0) continue;
        if (short_of == spans.size()) return false;
        const ShortageRange::Span& span = spans[short_of++];
        if (span.dim != dim || missing < span.least || missing > span.most) return false;
    }
    return short_of == spans.size();
}

bool NodeVictims::find(NodeId node, Victims& out) {
    none_.reset();
    holds_for_.reset();
    out.proof.reset();
    out.searched = false;
    out.chosen.clear();
    const std::int64_t uncertain = session_.filters.uncertain_answers();
    if (walk(node, out)) {
        REPRIEVE_CHECK(!out.chosen.empty(),
                       "an empty victim set on {} means that the pod fitted all along",
                       session_.snapshot.node_name(node));
        std::vector<std::uint32_t> place(by_importance_.size());
        for (std::uint32_t i = 0; i < by_importance_.size(); ++i)
            place[by_importance_[i]] = i;
        std::ranges::sort(out.chosen, {}, [&](std::uint32_t u) { return place[u]; });
        out.cost = cost_of(node, out.list, out.chosen);
        if (interchangeable(out.list)) out.proof = Proof::bound_met(out.cost, out.cost);
        if (is_shared(out.list)) holds_for_ = walked_;
        return true;
    }
    if (!rules_.improve || barred_) return false;
    const bool all_were_out = complete_ && rules_.pdb != PdbMode::kStrict && !leaves_out(node, out.list);
    const bool certain = session_.filters.uncertain_answers() == uncertain;
    if (all_were_out && monotone_) {
        if (!certain) return false;  // fewer victims would leave fewer combinations, and no proof
        none_ = Proof::all_removed(monotone_);
        if (is_shared(out.list)) holds_for_ = walked_;
        return false;
    }
    WorkBudget own(kStepsPerNode);
    Searched result = search(node, nullptr, read_only() ? own : budget_);
    if (!result.found) {
        none_ = result.proof;
        return false;
    }
    out = std::move(*result.found);
    out.searched = true;
    out.proof = result.proof;
    return true;
}

// Which pods of a gang are its surplus depends on what the pod asks for.
bool NodeVictims::is_shared(const UnitList& list) const {
    return by_shortage_ && walked_.is_whole() &&
           std::ranges::all_of(list.units, [](const Unit& u) { return u.kind == UnitKind::kPod; });
}

// Single pods of one shape, one priority and one standing towards budgets: the walk's answer is already the cheapest in
// every term, because it takes the fewest and the least important of equals.
bool NodeVictims::interchangeable(const UnitList& list) const {
    const Snapshot& s = session_.snapshot;
    if (!read_only() || limit_binds_ || rules_.pdb == PdbMode::kStrict || rules_.order->has(CostTerm::kLostWork) ||
        rules_.order->has(CostTerm::kOwnPriority))
        return false;
    const Unit& first = list.units.front();
    const auto& shape = s.class_of(list.pods[first.first]).requests;
    return std::ranges::all_of(list.units, [&](const Unit& u) {
        return u.count == 1 && u.kind == UnitKind::kPod && u.priority == first.priority &&
               u.violations == first.violations && s.class_of(list.pods[u.first]).requests == shape &&
               !s.pods[list.pods[u.first]].has(kResizing);
    });
}

void NodeVictims::improve(NodeId node, Victims& in_out) {
    if (in_out.proof) return;
    Searched result = search(node, &in_out.cost, budget_);
    if (result.found) in_out = std::move(*result.found);
    in_out.proof = result.proof;
}

SetAnswer NodeVictims::search_list(
    NodeId node, const UnitList& list, bool open, const Cost* limit, WorkBudget& budget) {
    const VictimProblem problem(list,
                                pricing(),
                                {.open_splits = open,
                                 .strict_budgets = rules_.pdb == PdbMode::kStrict,
                                 .vote = nullptr,
                                 .vote_order = {},
                                 .claims_devices = claims_devices()},
                                !candidate_.cls.has_devices && !candidate_.cls.has_claims);
    const auto start = session_.tx.checkpoint();
    SetAnswer answer;
    if (counts_on(node)) {
        Amounts question(*this, node, list);
        answer = SetSearch(problem, question, budget).run(limit);
    } else {
        DryRun question(*this, node, list);
        answer = SetSearch(problem, question, budget).run(limit);
    }
    session_.tx.rollback(start);
    return answer;
}

// First the split that the gangs' own order gives, then every other: only a strictly cheaper set replaces it.
NodeVictims::Searched NodeVictims::search(NodeId node, const Cost* limit, WorkBudget& budget) {
    Searched out;
    std::optional<Cost> best;
    if (limit != nullptr) best = *limit;
    UnitList list;
    const bool complete = list_all(node, false, list);
    if (list.units.empty()) {
        if (complete) out.proof = Proof::nobody();
        return out;
    }
    mark_violations(node, list);
    const std::vector<PodId> breakers = breakers_;
    const bool contested = !list.contests.empty();
    SetAnswer answer = search_list(node, list, false, best ? &*best : nullptr, budget);
    if (answer.found) {
        best = answer.cost;
        out.found = Victims{.cost = answer.cost, .proof = {}, .chosen = answer.chosen, .list = list};
    }
    std::optional<Proof> proof = answer.proof;
    UnitList open;
    if (contested) {
        static_cast<void>(list_all(node, true, open));
        copy_violations(session_.snapshot, list, breakers, rules_.pdb == PdbMode::kStrict, open);
        SetAnswer other = search_list(node, open, true, best ? &*best : nullptr, budget);
        proof = other.proof;
        if (other.found) {
            best = other.cost;
            Victims victims{.cost = other.cost, .proof = {}, .chosen = other.chosen, .list = open};
            close_splits(victims.list, victims.chosen);
            out.found = std::move(victims);
        }
    }
    if (proof && forgive_elsewhere(node, contested ? open : list)) {
        const UnitList& lenient = contested ? open : list;
        const SetAnswer other = search_list(node, lenient, contested, best ? &*best : nullptr, budget);
        proof = other.proof;
        if (other.found) proof = adopt_lenient(node, lenient, contested, other, best, out.found);
    }
    if (complete && proof) out.proof = proof;
    return out;
}

bool NodeVictims::leaves_out(NodeId node, const UnitList& list) const {
    const auto listed = [&](GangId gang) {
        std::size_t pods = 0;
        for (const Unit& unit : list.units) {
            if (unit.gang != gang) continue;
            pods += static_cast<std::size_t>(std::ranges::count_if(
                list.pods_of(unit), [&](PodId p) { return session_.snapshot.pods[p].node == node; }));
        }
        return pods;
    };
    return std::ranges::any_of(list.contests, [&](const auto& contest) { return listed(contest.gang) < contest.pods; });
}

}  // namespace reprieve
