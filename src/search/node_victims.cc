#include "search/node_victims.h"

#include <algorithm>

#include "base/check.h"
#include "plugins/limits.h"
#include "search/open_split.h"
#include "search/subset_search.h"
#include "search/whole_devices.h"

namespace reprieve {
namespace {

constexpr int kRemoteRounds = 4;  // as many as there are rules that look beyond the node
constexpr std::size_t kMostAmounts = 16;

}  // namespace

NodeVictims::NodeVictims(Session& session, const VictimRules& rules, const Asker& asker)
    : session_(session),
      rules_(rules),
      asker_(asker),
      candidate_(session.snapshot, asker.pod),
      finder_(session) {
    const Snapshot& s = session.snapshot;
    // Beyond this many resources the arithmetic of `by_amounts` has no place for them; the dry run has.
    amounts_only_ =
        asker.amounts.size() <= kMostAmounts && (asker.resize || (session.filters.amounts_only(s, candidate_.cls) &&
                                                                  session.filters.on(FilterId::kNodeResourcesFit)));
    limit_binds_ = !session.limits.admit(s.later, asker.pod, asker.amounts);
}

bool NodeVictims::passes(NodeId node) const {
    const Snapshot& s = session_.snapshot;
    if (!session_.limits.admit(s.later, asker_.pod, asker_.amounts)) return false;
    if (asker_.resize) {
        return std::ranges::all_of(asker_.amounts,
                                   [&](const auto& a) { return a.value <= 0 || s.later.free(node, a.dim) >= a.value; });
    }
    return session_.filters.check_view(candidate_, s.later, s.later, node).fits();
}

bool NodeVictims::counts_on(NodeId node) const {
    if (limit_binds_ || amounts_only_) return amounts_only_ && !limit_binds_;
    const Snapshot& s = session_.snapshot;
    const PodClass& cls = candidate_.cls;
    return !cls.has_ports && cls.volumes.empty() && session_.filters.node_local(s, cls) &&
           session_.filters.on(FilterId::kNodeResourcesFit) &&
           devices_by_amounts(session_, s.words->spec(cls.spec).devices, node);
}

bool NodeVictims::gather(NodeId node, UnitList& list) {
    list.clear();
    finder_.on_node(node, rules_.attack, list);
    if (rules_.pdb == PdbMode::kStrict) drop_over_budget(session_.snapshot, list);
    return !list.units.empty();
}

// Budget breakers first, each group from most to least important.
void NodeVictims::order_for_return(UnitList& list) {
    const Snapshot& s = session_.snapshot;
    by_importance_.resize(list.units.size());
    for (std::uint32_t i = 0; i < by_importance_.size(); ++i)
        by_importance_[i] = i;
    std::ranges::sort(by_importance_, [&](std::uint32_t a, std::uint32_t b) {
        return more_important(s, list, list.units[a], list.units[b]);
    });
    split_by_budget(s, list, by_importance_);
    return_order_ = by_importance_;
    if (!s.budgets.empty())
        std::ranges::stable_partition(return_order_, [&](std::uint32_t i) { return list.units[i].violations > 0; });
    // A gang's WHOLE part comes back before its SAFE pods, so that they are decided knowing whether the gang stays.
    for (std::size_t i = 0; i < return_order_.size(); ++i) {
        const std::int32_t whole = list.units[return_order_[i]].whole;
        if (whole < 0) continue;
        const auto at = std::ranges::find(return_order_, static_cast<std::uint32_t>(whole));
        if (at - return_order_.begin() > static_cast<std::ptrdiff_t>(i))
            std::rotate(return_order_.begin() + static_cast<std::ptrdiff_t>(i), at, at + 1);
    }
}

bool NodeVictims::find(NodeId node, Victims& out) {
    uncertain_ = false;
    out.exact = false;
    out.other_split = false;
    out.chosen.clear();
    if (!walk(node, out)) return find_other_split(node, out);
    REPRIEVE_CHECK(!out.chosen.empty(),
                   "an empty victim set on {} means that the pod fitted all along",
                   session_.snapshot.node_name(node));
    const auto place = [&](std::uint32_t u) { return std::ranges::find(by_importance_, u) - by_importance_.begin(); };
    std::ranges::sort(out.chosen, [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
    out.cost = cost_of(out.list, out.chosen);
    out.exact = interchangeable(out.list);
    return true;
}

bool NodeVictims::walk(NodeId node, Victims& out) {
    // Nobody here to take: only somebody on another node can be in the way.
    if (!gather(node, out.list) && read_only()) return false;
    return read_only() ? by_amounts(node, out) : by_dry_run(node, out);
}

// Whether the unit has a pod that is barred, or would take one along.
bool NodeVictims::stays_put(const UnitList& list, std::uint32_t unit) const {
    if (!barred_) return false;
    const auto has_it = [&](const Unit& u) {
        return std::ranges::find(list.pods_of(u), barred_) != list.pods_of(u).end();
    };
    return has_it(list.units[unit]) || std::ranges::any_of(list.units, [&](const Unit& u) {
               return u.whole == static_cast<std::int32_t>(unit) && has_it(u);
           });
}

std::optional<Cost> NodeVictims::runner_up(NodeId node, const Victims& victims) {
    constexpr std::size_t kMostTries = 8;
    std::optional<Cost> found;
    for (std::size_t i = 0; i < std::min(victims.chosen.size(), kMostTries) && !found; ++i) {
        barred_ = victims.list.pods_of(victims.list.units[victims.chosen[i]]).front();
        Victims other;
        if (!walk(node, other)) continue;
        const Cost cost = cost_of(other.list, other.chosen);
        if (!(cost < victims.cost)) found = cost;
    }
    barred_ = {};
    return found;
}

bool NodeVictims::by_amounts(NodeId node, Victims& out) {
    const Snapshot& s = session_.snapshot;
    struct Short {
        Dim dim;
        std::int64_t missing = 0;  // while > 0 the pod does not fit
    };
    std::array<Short, kMostAmounts> shorts;
    std::size_t count = 0;
    for (const auto& [dim, value] : asker_.amounts) {
        if (value > 0 && s.later.free(node, dim) < value) shorts[count++] = {dim, value - s.later.free(node, dim)};
    }
    if (count == 0) return false;  // it fits: no business of ours
    const auto freed = [&](const Unit& unit, Dim dim) {
        std::int64_t sum = 0;
        for (PodId pod : out.list.pods_of(unit)) {
            if (s.pods[pod].node == node) sum += room_of(s, pod, dim);
        }
        return sum;
    };
    for (std::size_t i = 0; i < count; ++i) {
        for (std::uint32_t u = 0; u < out.list.units.size(); ++u)
            shorts[i].missing -= stays_put(out.list, u) ? 0 : freed(out.list.units[u], shorts[i].dim);
        if (shorts[i].missing > 0) return false;
    }
    order_for_return(out.list);
    for (std::uint32_t at : return_order_) {
        if (stays_put(out.list, at)) continue;
        const Unit& unit = out.list.units[at];
        bool stays =
            unit.whole < 0 || std::ranges::find(out.chosen, static_cast<std::uint32_t>(unit.whole)) == out.chosen.end();
        for (std::size_t i = 0; stays && i < count; ++i)
            stays = shorts[i].missing + freed(unit, shorts[i].dim) <= 0;
        if (!stays) {
            out.chosen.push_back(at);
            continue;
        }
        for (std::size_t i = 0; i < count; ++i)
            shorts[i].missing += freed(unit, shorts[i].dim);
    }
    return true;
}

bool NodeVictims::by_dry_run(NodeId node, Victims& out) {
    Transaction& tx = session_.tx;
    const auto start = tx.checkpoint();
    const auto evict_all = [&] {
        for (std::uint32_t u = 0; u < out.list.units.size(); ++u) {
            if (stays_put(out.list, u)) continue;
            for (PodId pod : out.list.pods_of(out.list.units[u]))
                tx.evict(pod);
        }
    };
    evict_all();
    bool fits = passes(node);
    // Somebody on another node may be in the way: a zone-wide anti-affinity, a spread, a claim of one pod only. Filters
    // speak one at a time, so it is asked again once those that the first one named are gone.
    for (int round = 0; !fits && !asker_.resize && round < kRemoteRounds; ++round) {
        const Answer answer =
            session_.filters.check_view(candidate_, session_.snapshot.later, session_.snapshot.later, node);
        const std::size_t before = out.list.pods.size();
        std::vector<PodId> more;
        if (answer.fit == Fit::kNotNow && beyond_)
            more = remote_pods(node, answer);
        else if (answer.fits())
            more = pods_under_limit();
        // What a gang can spare is counted as things stand without the dry run.
        tx.rollback(start);
        finder_.of_pods(more, rules_.attack, out.list);
        if (out.list.pods.size() == before) {
            evict_all();
            break;
        }
        if (rules_.pdb == PdbMode::kStrict) drop_over_budget(session_.snapshot, out.list);
        evict_all();
        fits = passes(node);
    }
    if (!fits) {
        tx.rollback(start);
        return false;
    }
    // Budgets are walked as they stood before the dry run.
    tx.rollback(start);
    order_for_return(out.list);
    evict_all();
    for (std::uint32_t at : return_order_) {
        if (stays_put(out.list, at)) continue;
        const Unit& unit = out.list.units[at];
        if (unit.whole >= 0 &&
            std::ranges::find(out.chosen, static_cast<std::uint32_t>(unit.whole)) != out.chosen.end()) {
            out.chosen.push_back(at);  // its gang goes whole
            continue;
        }
        const auto mark = tx.checkpoint();
        for (PodId pod : out.list.pods_of(unit))
            tx.restore(pod);
        if (passes(node)) continue;
        tx.rollback(mark);
        out.chosen.push_back(at);
    }
    tx.rollback(start);
    return true;
}

// The queue is over its limit: whoever counts towards the same limit frees it, wherever it runs.
std::vector<PodId> NodeVictims::pods_under_limit() const {
    const Snapshot& s = session_.snapshot;
    std::vector<PodId> found;
    for (NodeId other : s.nodes_by_name) {
        for (PodId pod : s.node_pods[other]) {
            if (s.pods[pod].state == PodState::kRunning &&
                session_.limits.shared(s.pods[pod].queue, s.pods[asker_.pod].queue))
                found.push_back(pod);
        }
    }
    return found;
}

// Everybody who could free the limit is in the list.
bool NodeVictims::beyond_limit_listed(const UnitList& list) const {
    return std::ranges::all_of(pods_under_limit(), [&](PodId pod) {
        return !finder_.takeable(pod, rules_.attack) || std::ranges::find(list.pods, pod) != list.pods.end();
    });
}

std::vector<PodId> NodeVictims::remote_pods(NodeId node, const Answer& answer) const {
    const Snapshot& s = session_.snapshot;
    const PodClass& mine = candidate_.cls;
    const auto same_domain = [&](TopologyKeyId key, NodeId other) {
        const std::int32_t here = s.topology.domain(key, node.index());
        return here != TopologyIndex::kNoDomain && s.topology.domain(key, other.index()) == here;
    };
    const auto in_the_way = [&](PodId pod, NodeId where) {
        const PodClass& cls = s.class_of(pod);
        switch (answer.filter) {
            case FilterId::kInterPodAffinity:
                return std::ranges::any_of(mine.anti_affinity,
                                           [&](TermId t) {
                                               return std::ranges::binary_search(cls.matched, t) &&
                                                      same_domain(s.terms[t].key, where);
                                           }) ||
                       std::ranges::any_of(cls.anti_affinity, [&](TermId t) {
                           return std::ranges::binary_search(mine.matched, t) && same_domain(s.terms[t].key, where);
                       });
            case FilterId::kPodTopologySpread:
                return std::ranges::any_of(mine.spread, [&](const ClassSpread& c) {
                    return c.hard && std::ranges::binary_search(cls.matched, c.term) && same_domain(c.key, where);
                });
            case FilterId::kVolumeRestrictions:
                return std::ranges::any_of(mine.volumes, [&](const ClassVolume& v) {
                    return v.single_pod && std::ranges::any_of(cls.volumes, [&](const ClassVolume& w) {
                               return w.claim == v.claim && w.kind == v.kind;
                           });
                });
            default:
                return false;
        }
    };
    std::vector<PodId> found;
    for (NodeId other : s.nodes_by_name) {
        if (other == node) continue;
        for (PodId pod : s.node_pods[other]) {
            if (s.pods[pod].state == PodState::kRunning && in_the_way(pod, other)) found.push_back(pod);
        }
    }
    return found;
}

Cost NodeVictims::cost_of(const UnitList& list, std::span<const std::uint32_t> chosen) const {
    const Snapshot& s = session_.snapshot;
    VictimBill bill(s, *rules_.order, rules_.work, asker_.amounts, {});
    Losses losses(list);
    for (std::uint32_t at : chosen) {
        const Unit& unit = list.units[at];
        bill.add_unit(losses.breaks(unit), unit.violations, s.pods[list.pods[unit.first]].queue);
        for (PodId pod : list.pods_of(unit))
            bill.add_pod(pod, unit.priority);
    }
    return bill.cost();
}

// Single pods of one shape, one priority and one standing towards budgets: the walk's answer is already the cheapest in
// every term, because it takes the fewest and the least important of equals.
bool NodeVictims::interchangeable(const UnitList& list) const {
    const Snapshot& s = session_.snapshot;
    if (!amounts_only_ || limit_binds_ || rules_.order->has(CostTerm::kLostWork)) return false;
    const Unit& first = list.units.front();
    const auto& shape = s.class_of(list.pods[first.first]).requests;
    return std::ranges::all_of(list.units, [&](const Unit& u) {
        return u.count == 1 && u.kind == UnitKind::kPod && u.priority == first.priority &&
               u.violations == first.violations && s.class_of(list.pods[u.first]).requests == shape &&
               !s.pods[list.pods[u.first]].has(kResizing);
    });
}

Cost NodeVictims::least_cost(NodeId node) const {
    const Snapshot& s = session_.snapshot;
    Toll least;
    std::int32_t lowest = INT32_MAX;
    for (PodId pod : s.node_pods[node])
        lowest = std::min(lowest, s.pods[pod].unit_priority);
    if (limit_binds_) {
        for (PodId pod : pods_under_limit())
            lowest = std::min(lowest, s.pods[pod].unit_priority);
    }
    least.add_pod(lowest, INT64_MAX);
    least.units = 1;
    return rules_.order->cost(least);
}

Cost NodeVictims::lower_bound(NodeId node, const Victims& victims) const {
    if (victims.exact) return victims.cost;
    const Snapshot& s = session_.snapshot;
    // Others than those in the list may go.
    if (victims.other_split || leaves_out(node, victims.list)) return least_cost(node);
    // At least one unit goes, and per short dimension at least as many pods as the largest ones need to cover it.
    std::int64_t fewest = 1;
    if (amounts_only_ && !limit_binds_) {
        for (const auto& [dim, value] : asker_.amounts) {
            std::int64_t missing = value - s.later.free(node, dim);
            if (missing <= 0) continue;
            std::vector<std::int64_t> sizes;
            for (PodId pod : victims.list.pods) {
                if (s.pods[pod].node == node) sizes.push_back(s.spec_of(pod).requests.get(dim));
            }
            std::ranges::sort(sizes, std::greater());
            std::int64_t pods = 0;
            for (std::int64_t size : sizes) {
                if (missing <= 0) break;
                missing -= size;
                ++pods;
            }
            fewest = std::max(fewest, pods);
        }
    }
    std::vector<std::int32_t> priorities;
    for (const Unit& u : victims.list.units) {
        for (std::uint32_t i = 0; i < u.count; ++i)
            priorities.push_back(u.priority);
    }
    std::ranges::sort(priorities);
    Toll toll;
    for (std::int64_t i = 0; i < fewest && static_cast<std::size_t>(i) < priorities.size(); ++i)
        toll.add_pod(priorities[static_cast<std::size_t>(i)], INT64_MAX);
    toll.units = 1;
    return rules_.order->cost(toll);
}

void NodeVictims::improve(NodeId node, Victims& in_out) {
    if (in_out.exact || in_out.other_split) return;
    SubsetSearch(*this, node, in_out).run();
    if (!in_out.list.contests.empty()) try_other_splits(node, in_out);
    // Under a limit, whoever counts towards it may go instead, wherever it runs.
    if (limit_binds_ && !beyond_limit_listed(in_out.list)) in_out.exact = false;
}

// Strict budgets go through the units in the order that the split belongs to: there it stays as it is.
Victims NodeVictims::search_other_splits(NodeId node, UnitList& list, const Cost& limit, std::int64_t steps) {
    Attack open = rules_.attack;
    open.open_split = true;
    open.open_single = rules_.order->has(CostTerm::kBreaksGangs) || rules_.order->has(CostTerm::kGangsBroken);
    Victims other{.cost = limit, .chosen = {}, .list = {}};
    finder_.on_node(node, open, other.list);
    copy_violations(split_by_budget(session_.snapshot, list, by_importance_), other.list);
    SubsetSearch(*this, node, other, true).run(steps);
    // Others under the same limit may run elsewhere.
    other.exact = other.exact && !limit_binds_;
    if (!other.chosen.empty()) close_splits(other.list, other.chosen);
    return other;
}

// Other pods of a gang may be called its surplus than those that its order calls so, if that costs less.
void NodeVictims::try_other_splits(NodeId node, Victims& in_out) {
    const Snapshot& s = session_.snapshot;
    const auto elsewhere = [&](const Unit& u) {
        return std::ranges::none_of(in_out.list.pods_of(u), [&](PodId p) { return s.pods[p].node == node; });
    };
    if (rules_.pdb == PdbMode::kStrict) return;
    Victims other = search_other_splits(node, in_out.list, in_out.cost, SubsetSearch::kArithmeticSteps);
    // Those who are in the way from elsewhere are not in the other list.
    const bool exact = in_out.exact && other.exact && std::ranges::none_of(in_out.list.units, elsewhere);
    if (!other.chosen.empty()) in_out = std::move(other);
    in_out.exact = exact;
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

bool NodeVictims::find_other_split(NodeId node, Victims& out) {
    constexpr std::int64_t kSteps = 2'000;  // on every node where this is so
    if (!rules_.improve || rules_.pdb == PdbMode::kStrict || barred_ || !leaves_out(node, out.list)) return false;
    order_for_return(out.list);
    Cost never;
    never.terms.fill(INT64_MAX);
    Victims other = search_other_splits(node, out.list, never, kSteps);
    if (other.chosen.empty()) {
        if (!other.exact) uncertain_ = true;
        return false;
    }
    other.other_split = true;
    out = std::move(other);
    return true;
}

}  // namespace reprieve
