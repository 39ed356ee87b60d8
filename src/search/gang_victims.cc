#include "search/gang_victims.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "search/cover_search.h"
#include "search/gang_subset_search.h"

namespace reprieve {
GangVictims::GangVictims(
    Session& session, Placer& placer, const GangRules& rules, std::span<const PodId> members, TopologySeat seat)
    : session_(session),
      rules_(rules),
      seat_(std::move(seat)),
      fit_(session, placer, members, seat_),
      in_domain_(session.snapshot.nodes.size()) {
    const Snapshot& s = session_.snapshot;
    const std::span<const NodeId> nodes =
        seat_.domain.nodes.empty() ? std::span<const NodeId>(s.nodes_by_name) : seat_.domain.nodes;
    for (NodeId node : nodes)
        in_domain_[node.index()] = true;
    // Over a queue's limit, whoever counts towards it frees it, also outside the domain.
    const bool over_limit = !fit_.within_limits();
    UnitFinder(session_).on_nodes(over_limit ? std::span<const NodeId>(s.nodes_by_name) : nodes, rules_.attack, list_);
    if (!rules_.allow_whole) {
        std::erase_if(list_.units, [](const Unit& u) { return u.kind == UnitKind::kWhole; });
        for (Unit& u : list_.units)
            u.whole = -1;
    }
    if (rules_.attack.local_only) {
        for (Unit& u : list_.units)
            u.whole = -1;
    }
    if (rules_.pdb == PdbMode::kStrict) drop_over_budget(s, list_);
    importance_ = order_for_return(s, list_);
    bundles_ = make_bundles(s, list_, fit_.need(), rules_.bundles, in_domain_);
    apply_vote();
    taken_.resize(list_.units.size());
    start_ = session_.tx.checkpoint();
    assess();
}

bool GangVictims::vote(std::span<const std::uint32_t> units) {
    VictimVote* vote = rules_.vote;
    if (vote == nullptr) return true;
    vote->reset();
    // In the order the bundles were offered.
    const bool accepted = std::ranges::all_of(order_, [&](std::uint32_t u) {
        return std::ranges::find(units, u) == units.end() || vote->accept(list_.pods_of(list_.units[u]));
    });
    return accepted && vote->passes();
}

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

// A gang that goes takes its surplus pods in the domain along.
void GangVictims::take_with_links(std::uint32_t unit) {
    if (!taken_[unit]) take(unit);
    for (std::uint32_t u = 0; u < list_.units.size(); ++u) {
        if (list_.units[u].whole == static_cast<std::int32_t>(unit) && !taken_[u]) take(u);
    }
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
    for (std::uint32_t u : order_)
        take(u);
    feasible_ = !list_.units.empty() && fit_.passes();
    if (!feasible_) {
        describe_binding();
        reset();
        return;
    }
    std::vector<std::uint32_t> forced;
    if (fit_.counts()) {
        for (std::uint32_t u : importance_) {
            give(u);
            if (!fit_.passes()) forced.push_back(u);
            take(u);
        }
    }
    reset();
    Toll least;
    least.units = 1;
    bound_ = forced.empty() ? Cost{} : cost_of(forced);
    if (forced.empty()) {
        std::int32_t lowest = INT32_MAX;
        for (const Unit& u : list_.units)
            lowest = std::min(lowest, u.priority);
        least.add_pod(lowest, INT64_MAX);
        const bool spare = std::ranges::any_of(list_.units, [](const Unit& u) { return u.kind == UnitKind::kSafe; });
        if (!spare) least.whole_units = 1;
        bound_ = rules_.order->cost(least);
    }
    if (!rules_.improve || !fit_.counts() || suffice(forced)) return;
    cover_ = std::make_unique<CoverSearch>(*this, forced);
    if (!cover_->usable()) {
        cover_.reset();
    } else if (const auto bound = cover_->bound()) {
        bound_ = std::max(bound_, *bound);
    }
}

GangVictims::~GangVictims() = default;

bool GangVictims::suffice(std::span<const std::uint32_t> units) {
    for (std::uint32_t u : units)
        take(u);
    const bool enough = fit_.passes();
    reset();
    return enough;
}

void GangVictims::describe_binding() {
    const Snapshot& s = session_.snapshot;
    const std::string where = seat_.domain.name.empty() ? "the cluster" : seat_.domain.name;
    if (fit_.counts()) {
        binding_ = fmt::format("{} holds {} of {} members even without all that may be evicted",
                               where,
                               std::min(fit_.total(), fit_.wanted()),
                               fit_.wanted());
        return;
    }
    for (const auto& [dim, value] : fit_.need()) {
        std::int64_t free = 0;
        for (NodeId node : s.nodes_by_name)
            free += in_domain_[node.index()] ? std::max<std::int64_t>(s.later.free(node, dim), 0) : 0;
        if (free < value) {
            binding_ = fmt::format("{} can free {} of {} {}", where, free, value, s.words->text(dim));
            return;
        }
    }
    binding_ = fmt::format("{} cannot hold all members together even without all that may be evicted", where);
}

Cost GangVictims::cost_of(std::span<const std::uint32_t> units) const {
    const Snapshot& s = session_.snapshot;
    VictimBill bill(s, *rules_.order, rules_.work, fit_.need(), rules_.bundles.queue_order);
    for (std::uint32_t at : units) {
        const Unit& unit = list_.units[at];
        bill.add_unit(unit.kind != UnitKind::kSafe, unit.violations, s.pods[list_.pods[unit.first]].queue);
        for (PodId pod : list_.pods_of(unit))
            bill.add_pod(pod, unit.priority);
    }
    return bill.cost();
}

// Takes the unit with what goes along; gives it back if the vote is against it. Says whether it is taken.
bool GangVictims::take_if_allowed(std::uint32_t unit) {
    const std::vector<bool> before = taken_;
    take_with_links(unit);
    if (!rules_.vote_alone || vote(taken_units())) return true;
    for (std::uint32_t other = 0; other < taken_.size(); ++other) {
        if (taken_[other] && !before[other]) give(other);
    }
    return false;
}

bool GangVictims::select_by_bundles() {
    // Who may not go now may go once others have gone, too.
    for (bool more = true; more;) {
        more = false;
        for (std::uint32_t u : order_) {
            if (fit_.passes()) return true;
            if (!taken_[u] && take_if_allowed(u)) more = true;
        }
    }
    return fit_.passes();
}

// The cheapest units on this node whose going makes one more member fit there. False: there are none.
bool GangVictims::next_slot(NodeId node, std::vector<std::uint32_t>& out) {
    const Snapshot& s = session_.snapshot;
    out.clear();
    const std::int64_t before = fit_.total();
    for (std::uint32_t u : order_) {
        if (taken_[u]) continue;
        const auto pods = list_.pods_of(list_.units[u]);
        if (std::ranges::none_of(pods, [&](PodId p) { return s.pods[p].node == node; })) continue;
        take_with_links(u);
        out.push_back(u);
        if (fit_.total() > before) break;
    }
    const bool found = fit_.total() > before;
    // Give back what the slot does not need, most important first.
    if (found) {
        for (std::uint32_t u : importance_) {
            const auto at = std::ranges::find(out, u);
            if (at == out.end() || list_.units[u].whole >= 0) continue;
            give(u);
            if (fit_.total() > before) {
                out.erase(at);
            } else {
                take(u);
            }
        }
    }
    return found;
}

// Node by node: always the cheapest next slot.
bool GangVictims::select_by_slots() {
    if (!fit_.counts()) return false;
    const Snapshot& s = session_.snapshot;
    const std::span<const NodeId> nodes =
        seat_.domain.nodes.empty() ? std::span<const NodeId>(s.nodes_by_name) : seat_.domain.nodes;
    struct Offer {
        bool known = false;
        bool possible = false;
        Cost cost;
        std::vector<std::uint32_t> units;
    };
    std::vector<Offer> offers(nodes.size());
    std::vector<std::vector<std::uint32_t>> units_on(s.nodes.size());
    for (std::uint32_t u : order_) {
        for (PodId p : list_.pods_of(list_.units[u])) {
            if (in_domain_[s.pods[p].node.index()] &&
                (units_on[s.pods[p].node.index()].empty() || units_on[s.pods[p].node.index()].back() != u))
                units_on[s.pods[p].node.index()].push_back(u);
        }
    }
    std::vector<std::uint32_t> saved_order;
    while (!fit_.passes()) {
        std::size_t best = nodes.size();
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            Offer& offer = offers[i];
            if (!offer.known) {
                offer.known = true;
                offer.possible = false;
                if (units_on[nodes[i].index()].empty()) continue;
                const std::vector<bool> before = taken_;
                saved_order.swap(order_);
                order_ = units_on[nodes[i].index()];
                offer.possible = next_slot(nodes[i], offer.units);
                order_.swap(saved_order);
                if (offer.possible) {
                    offer.units.clear();
                    for (std::uint32_t u = 0; u < taken_.size(); ++u) {
                        if (taken_[u] && !before[u]) offer.units.push_back(u);
                    }
                    offer.cost = cost_of(offer.units);
                }
                for (std::uint32_t u = 0; u < taken_.size(); ++u) {
                    if (taken_[u] && !before[u]) give(u);
                }
            }
            if (offer.possible && (best == nodes.size() || offer.cost < offers[best].cost)) best = i;
        }
        if (best == nodes.size()) return false;
        // Part of it may have gone since, with a gang that reaches further than its node: ask again.
        if (std::ranges::any_of(offers[best].units, [&](std::uint32_t u) { return taken_[u]; })) {
            offers[best].known = false;
            continue;
        }
        const std::vector<std::uint32_t> chosen = offers[best].units;
        for (std::uint32_t u : chosen) {
            if (!taken_[u]) take(u);
            for (PodId p : list_.pods_of(list_.units[u])) {
                for (std::size_t i = 0; i < nodes.size(); ++i) {
                    if (nodes[i] == s.pods[p].node) offers[i].known = false;
                }
            }
        }
    }
    return true;
}

void GangVictims::give_back() {
    for (std::uint32_t u : importance_) {
        if (!taken_[u]) continue;
        const std::int32_t whole = list_.units[u].whole;
        if (whole >= 0 && taken_[static_cast<std::size_t>(whole)]) continue;  // its gang goes
        give(u);
        if (!fit_.passes() || !vote(taken_units())) take(u);
    }
    // A gang that stayed may now spare fewer or more of its surplus: ask those again.
    for (std::uint32_t u : importance_) {
        if (!taken_[u] || list_.units[u].kind != UnitKind::kSafe) continue;
        const std::int32_t whole = list_.units[u].whole;
        if (whole >= 0 && taken_[static_cast<std::size_t>(whole)]) continue;
        give(u);
        if (!fit_.passes() || !vote(taken_units())) take(u);
    }
}

void GangVictims::keep_best(std::optional<GangChoice>& best) {
    const std::vector<std::uint32_t> units = taken_units();
    if (!vote(units)) return;
    const Cost cost = cost_of(units);
    std::optional<Cost> second;
    if (best) {
        second = best->runner_up;
        if (best->chosen != units)
            second = std::min(second.value_or(std::max(cost, best->cost)), std::max(cost, best->cost));
        if (!(cost < best->cost)) {
            best->runner_up = second;
            return;
        }
    }
    best = GangChoice{.seat = seat_,
                      .list = list_,
                      .chosen = units,
                      .cost = cost,
                      .bound = bound_,
                      .exact = false,
                      .runner_up = second};
}

// Of sets that cost the same: fewest nodes for the members, then the first of them by name, then the less important
// victims. One victim is exchanged for another as long as that helps.
void GangVictims::settle_ties(GangChoice& best) {
    constexpr std::size_t kMostUnits = 48;
    constexpr int kMostTries = 400;
    if (list_.units.size() > kMostUnits) return;
    std::vector<bool> linked(list_.units.size());
    for (const Unit& unit : list_.units) {
        if (unit.whole >= 0) linked[static_cast<std::size_t>(unit.whole)] = true;
    }
    const auto is_free = [&](std::uint32_t u) { return !linked[u] && list_.units[u].whole < 0; };
    const auto importance = [&] {
        std::vector<std::size_t> out;
        for (std::size_t i = 0; i < importance_.size(); ++i) {
            if (taken_[importance_[i]]) out.push_back(importance_.size() - i);
        }
        return out;
    };
    // Boards learn of tentative evictions only where they are told.
    const auto touch = [&](std::uint32_t u) {
        for (PodId pod : list_.pods_of(list_.units[u]))
            session_.touch(session_.snapshot.pods[pod].node);
    };
    for (std::uint32_t u : best.chosen) {
        take(u);
        touch(u);
    }
    const auto key = [&] {
        std::vector<std::uint32_t> places = fit_.places();
        return std::tuple(places.size(), std::move(places), importance());
    };
    auto standing = key();
    int tries = 0;
    for (bool better = true; better;) {
        better = false;
        for (std::uint32_t out : taken_units()) {
            if (!is_free(out) || better) continue;
            for (std::uint32_t in : importance_) {
                if (taken_[in] || !is_free(in) || list_.units[in].priority != list_.units[out].priority) continue;
                if (++tries > kMostTries) break;
                give(out);
                take(in);
                touch(out);
                touch(in);
                const std::vector<std::uint32_t> units = taken_units();
                if (fit_.passes() && vote(units) && cost_of(units) == best.cost) {
                    auto challenger = key();
                    if (std::get<0>(challenger) > 0 && challenger < standing) {
                        standing = std::move(challenger);
                        best.chosen = units;
                        better = true;
                        break;
                    }
                }
                give(in);
                take(out);
                touch(out);
                touch(in);
            }
        }
    }
    const std::vector<std::uint32_t> units = taken_units();
    reset();
    std::ranges::for_each(units, touch);
}

std::optional<GangChoice> GangVictims::find() {
    std::optional<GangChoice> best;
    if (select_by_bundles()) {
        give_back();
        keep_best(best);
    }
    reset();
    if (rules_.improve) {
        if (select_by_slots()) {
            give_back();
            keep_best(best);
        }
        reset();
        search_exactly(best);
    }
    if (best && rules_.improve) settle_ties(*best);
    return best;
}

void GangVictims::search_exactly(std::optional<GangChoice>& best) {
    if (best && !(bound_ < best->cost)) {
        best->exact = true;
    } else if (cover_) {
        // A node looked at takes about a microsecond.
        const Cost bound = std::max(bound_, cover_->run(best, session_.config.search_budget.us));
        if (!best) return;
        best->bound = bound;
        best->exact = !(bound < best->cost);
    } else if (best) {
        GangSubsetSearch(*this, *best).run();
        if (best->exact) best->bound = best->cost;
    }
}

}  // namespace reprieve
