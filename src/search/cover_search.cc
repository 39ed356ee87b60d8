#include "search/cover_search.h"

#include <algorithm>
#include <map>

#include "search/device_gifts.h"
#include "search/surplus.h"

namespace reprieve {
namespace {

constexpr std::size_t kRuleLooks = 128;  // in about a microsecond

}  // namespace

CoverSearch::CoverSearch(GangVictims& owner, std::span<const std::uint32_t> forced) : owner_(owner) {
    build_cover();
    if (!cover_ || cover_->overflowed()) return;
    build_scale();
    if (!scale_->usable()) return;
    usable_ = true;
    weights_ = scale_->weights();
    build_rules();
    build_classes();
    if (owner_.rules_.attack.open_split) build_spares();
    // What a set costs where units share claims is known only of sets that are taken.
    by_amounts_ = rules_known_ && entangled_.empty() && owner_.problem_->shared().empty() && owner_.fit_.by_amounts();
    root_.assign(owner_.list_.units.size(), UnitState::kOpen);
    for (std::uint32_t unit : forced)
        let_go(root_, unit);
    possible_ = rules_.settle(root_);
    links_.resize(root_.size());
    set_prices();
    shares_ = cover_->even_shares(priced_weights());
    whole_shares_ = cover_->whole_shares(weights_);
}

void CoverSearch::build_cover() {
    const Snapshot& s = owner_.session_.snapshot;
    std::vector<Resources::Amount> ask;
    for (const auto& amount : owner_.fit_.ask()) {
        if (amount.value > 0) ask.push_back(amount);
    }
    // Devices that are claimed come after the amounts, a dimension for each kind.
    CountedClaims* const claims = owner_.fit_.claims();
    const std::size_t kinds = claims == nullptr ? 0 : claims->kinds().size();
    if (ask.size() + kinds > SlotCover::kMostDims) return;
    SlotCover::Room one{};
    for (std::size_t d = 0; d < ask.size(); ++d)
        one[d] = ask[d].value;
    for (std::size_t k = 0; k < kinds; ++k)
        one[ask.size() + k] = claims->kinds()[k].count;
    const std::int64_t wanted = owner_.fit_.wanted();
    std::vector<SlotCover::Place> places;
    std::vector<std::int32_t> place_of(s.nodes.size(), -1);
    for (NodeId node : s.nodes_by_name) {
        if (!owner_.in_domain_[node.index()] || !owner_.fit_.accepts(node)) continue;
        place_of[node.index()] = static_cast<std::int32_t>(places.size());
        SlotCover::Place& place = places.emplace_back();
        for (std::size_t d = 0; d < ask.size(); ++d) {
            // Where claims serve it, the node's own amount is never short.
            const bool served = owner_.fit_.served_by_claim(node, ask[d].dim);
            place.free[d] = served ? ask[d].value * wanted : s.later.free(node, ask[d].dim);
        }
        for (std::uint32_t k = 0; k < kinds; ++k)
            place.free[ask.size() + k] = claims->idle(node, k, s.later.claim_book(), wanted);
    }
    for (std::uint32_t u = 0; u < owner_.list_.units.size(); ++u) {
        for (PodId pod : owner_.list_.pods_of(owner_.list_.units[u])) {
            // A member may be bound to a node that is gone.
            const NodeId node = s.pods[pod].node;
            const std::int32_t at = node ? place_of[node.index()] : -1;
            if (at < 0) continue;
            auto& gifts = places[static_cast<std::size_t>(at)].gifts;
            if (gifts.empty() || gifts.back().unit != u) gifts.push_back({.unit = u});
            for (std::size_t d = 0; d < ask.size(); ++d)
                gifts.back().room[d] += room_of(s, pod, ask[d].dim);
        }
    }
    if (claims != nullptr) add_devices(*claims, ask.size(), place_of, places);
    cover_.emplace(one, wanted, std::move(places), owner_.list_.units.size());
}

// What each unit frees of the devices that members claim.
void CoverSearch::add_devices(CountedClaims& claims,
                              std::size_t first_dim,
                              std::span<const std::int32_t> place_of,
                              std::vector<SlotCover::Place>& places) {
    const Snapshot& s = owner_.session_.snapshot;
    std::vector<std::int32_t> unit_of(s.pods.size(), -1);
    for (std::uint32_t u = 0; u < owner_.list_.units.size(); ++u) {
        for (PodId pod : owner_.list_.pods_of(owner_.list_.units[u]))
            unit_of[pod.index()] = static_cast<std::int32_t>(u);
    }
    for (NodeId node : s.nodes_by_name) {
        const std::int32_t at = place_of[node.index()];
        if (at < 0) continue;
        std::vector<SlotCover::Gift>& gifts = places[static_cast<std::size_t>(at)].gifts;
        const auto of = [&](PodId pod) { return unit_of[pod.index()]; };
        add_device_gifts(s, claims, node, of, [&](std::uint32_t unit, std::uint32_t kind, bool alone) {
            ++std::ranges::lower_bound(gifts, unit, {}, &SlotCover::Gift::unit)->room[first_dim + kind];
            if (!alone) entangled_.push_back(unit);
        });
    }
}

// What votes and limits ask for, where that is arithmetic.
void CoverSearch::build_rules() {
    std::vector<GiveRule> told;
    const auto add = [&](const std::optional<std::vector<GiveRule>>& rules) {
        rules_known_ = rules_known_ && rules;
        if (rules) told.insert(told.end(), rules->begin(), rules->end());
    };
    if (owner_.rules_.vote != nullptr) add(owner_.rules_.vote->rules());
    if (owner_.over_limit_) add(owner_.fit_.limit_rules());
    const VictimProblem& problem = *owner_.problem_;
    if (told.empty() && problem.at_most().empty()) return;
    if (!told.empty()) rules_known_ = rules_known_ && gives_what_it_asks(owner_.session_.snapshot, owner_.list_);
    if (rules_known_) rules_ = GiveRules(owner_.session_.snapshot, owner_.list_, told, problem.at_most());
}

void CoverSearch::build_scale() {
    const Snapshot& s = owner_.session_.snapshot;
    const DemandNeed& all = owner_.need_;
    std::vector<Resources::Amount> need;
    std::vector<std::int64_t> amounts;
    for (const auto& amount : all.amounts) {
        if (amount.dim == kPods || amount.value <= 0) continue;
        need.push_back(amount);
        amounts.push_back(amount.value);
    }
    // Devices by class come after them.
    for (const DemandNeed::OfClass& devices : all.devices)
        amounts.push_back(std::max<std::int64_t>(devices.count, 1));
    std::vector<Cost> alone;
    std::vector<std::vector<std::int64_t>> destroyed;
    for (std::uint32_t u = 0; u < owner_.list_.units.size(); ++u) {
        alone.push_back(owner_.problem_->share_of(u));
        std::vector<std::int64_t>& mine = destroyed.emplace_back(amounts.size());
        const auto pods = owner_.list_.pods_of(owner_.list_.units[u]);
        add_devices_of(s, pods, all, owner_.problem_->shared().tied(), std::span(mine).subspan(need.size()));
        for (PodId pod : pods) {
            for (const auto& [dim, value] : s.class_of(pod).requests) {
                const auto at = std::ranges::find(need, dim, &Resources::Amount::dim);
                if (at != need.end()) mine[static_cast<std::size_t>(at - need.begin())] += value;
            }
        }
    }
    scale_.emplace(owner_.rules_.order->terms(), std::move(alone), destroyed, amounts);
}

// Alike: the same cost alone, the same room on the same nodes, the same under the rules of quotas, no tie to other
// units. What a gang can spare ties its units where splits are open.
void CoverSearch::build_classes() {
    const Snapshot& s = owner_.session_.snapshot;
    const std::vector<Unit>& units = owner_.list_.units;
    std::vector<bool> tied(units.size());
    for (std::size_t u = 0; u < units.size(); ++u) {
        tied[u] = tied[u] || (owner_.rules_.attack.open_split && units[u].kind == UnitKind::kSafe);
        if (units[u].whole < 0) continue;
        tied[u] = true;
        tied[static_cast<std::size_t>(units[u].whole)] = true;
    }
    // What they free, or cost, depends on others: another unit of the same numbers is no substitute.
    for (std::uint32_t u : entangled_)
        tied[u] = true;
    const std::span<const DeviceClaimId> shared = owner_.problem_->shared().tied();
    for (std::size_t u = 0; u < units.size() && !shared.empty(); ++u) {
        for (PodId pod : owner_.list_.pods_of(units[u]))
            tied[u] = tied[u] || std::ranges::any_of(s.device_claims.of(pod).holds, [&](DeviceClaimId id) {
                          return std::ranges::binary_search(shared, id);
                      });
    }
    std::map<std::pair<std::vector<std::int64_t>, Wide>, std::uint32_t> classes;
    class_of_.resize(units.size());
    along_of_.resize(units.size());
    for (std::uint32_t u = 0; u < units.size(); ++u) {
        if (units[u].whole >= 0) along_of_[static_cast<std::size_t>(units[u].whole)].push_back(u);
    }
    for (std::uint32_t u = 0; u < units.size(); ++u) {
        std::vector<std::int64_t> key = cover_->gifts_of(u);
        const Cost& alone = scale_->alone(u);
        key.insert(key.end(), alone.terms.begin(), alone.terms.end());
        const std::span<const std::int64_t> given = rules_.gifts_of(u);
        key.insert(key.end(), given.begin(), given.end());
        if (tied[u]) key.push_back(u);
        class_of_[u] = classes.try_emplace({std::move(key), weights_[u]}, u).first->second;
    }
}

void CoverSearch::build_spares() {
    const Snapshot& s = owner_.session_.snapshot;
    std::vector<std::pair<GangId, Spares>> found;  // in the order of the list
    for (std::uint32_t u = 0; u < owner_.list_.units.size(); ++u) {
        const Unit& unit = owner_.list_.units[u];
        if (unit.kind != UnitKind::kSafe) continue;
        auto at = std::ranges::find(found, unit.gang, &std::pair<GangId, Spares>::first);
        if (at == found.end()) at = found.insert(at, {unit.gang, {}});
        at->second.units.push_back(u);
        at->second.whole = unit.whole;
    }
    for (auto& [gang, spares] : found) {
        // Those whose pods go one by one may lose more, at another price.
        const Gang* fact = s.gangs[gang].fact;
        if (goes_pod_by_pod(s.gangs[gang])) continue;
        Surplus surplus(s, gang);
        for (std::uint32_t u : spares.units)
            spares.most += surplus.take(owner_.list_.pods[owner_.list_.units[u].first]) ? 1U : 0U;
        // Of sub-groups, how many may go depends on which: a number says nothing.
        spares.counted = fact == nullptr || fact->sub_groups.empty();
        if (!spares.counted) spares.most = spares.units.size();
        if (!spares.counted || spares.most < spares.units.size()) spares_.push_back(std::move(spares));
    }
}

bool CoverSearch::keep_unspared(States& states) const {
    for (const Spares& spares : spares_) {
        if (spares.whole >= 0 && states[static_cast<std::size_t>(spares.whole)] != UnitState::kStays) continue;
        Surplus surplus(owner_.session_.snapshot, owner_.list_.units[spares.units.front()].gang);
        std::size_t gone = 0;
        for (std::uint32_t u : spares.units) {
            if (states[u] != UnitState::kGone) continue;
            if (!surplus.take(owner_.list_.pods[owner_.list_.units[u].first])) return false;
            ++gone;
        }
        if (gone < spares.most) continue;
        for (std::uint32_t u : spares.units) {
            if (states[u] == UnitState::kOpen) states[u] = UnitState::kStays;
        }
    }
    return true;
}

std::optional<Cost> CoverSearch::bound() {
    const auto relaxed = relax(root_);
    return relaxed ? std::optional(relaxed->bound) : std::nullopt;
}

Wide CoverSearch::weight_of_gone(const States& states, const std::vector<Wide>& weights) const {
    Wide sum = 0;
    for (std::size_t u = 0; u < states.size(); ++u)
        sum += states[u] == UnitState::kGone ? weights[u] : 0;
    return sum;
}

std::optional<CoverSearch::Relaxed> CoverSearch::relax(const States& decided) {
    States states = decided;
    if (!possible_ || !keep_unspared(states) || !cover_->holds(states)) return std::nullopt;
    Settled settled{.states = std::move(states), .bound = {}, .floors = {}};
    settle_largest(settled);
    auto choice = cover_->cheapest(settled.states, shares_);
    if (!choice) return std::nullopt;
    Relaxed out{.bound = settled.bound, .choice = std::move(*choice)};
    const Wide gone = weight_of_gone(settled.states, weights_);
    const std::function<void(Wide)> write_bound = [&](Wide cost) {
        scale_->decode(least_weight(settled, gone + std::max<Wide>(0, cost)), out.bound);
    };
    const Wide cost = out.choice.cost - refund(settled.states) - unpaid(settled.states);
    write_bound(cost);
    if (!by_flow_ || (*best_ && !(out.bound < (*best_)->cost))) return out;
    relax_by_flow(settled.states, decided, out, {.cost = cost, .write = write_bound});
    return out;
}

Cost CoverSearch::run(std::optional<GangChoice>& best, std::int64_t budget) {
    constexpr int kTrials = 12;
    best_ = &best;
    Settled settled{.states = root_, .bound = {}, .floors = {}};
    settle_largest(settled);
    cover_->tune(settled.states, shares_, kTrials);
    open_bound_.reset();
    owner_.reset();
    if (best && !best->chosen.empty()) {
        made_ = same_here(*best);
        is_new_ = true;
    }
    const std::int64_t end = work() + budget;
    share_by_flow(settled.states, budget / 8);
    most_work_ = work() + budget / 8;
    descend(root_, owner_.bound_);
    if (open_bound_) {
        if (!made_.empty()) decide_anew(budget / 4);
        open_bound_.reset();
        most_work_ = end;
        descend(root_, owner_.bound_);
    }
    if (cover_->overflowed()) open_bound_ = owner_.bound_;
    if (!open_bound_) return best ? best->cost : owner_.bound_;
    return best ? std::min(*open_bound_, best->cost) : *open_bound_;
}

void CoverSearch::leave_open(const Cost& bound) { open_bound_ = open_bound_ ? std::min(*open_bound_, bound) : bound; }

bool CoverSearch::serves(const States& states) {
    if (!cover_->holds(states)) return false;
    if (rules_.empty()) return true;
    tried_ += static_cast<std::int64_t>(rules_.size() / kRuleLooks);
    States decided = states;
    return rules_.settle(decided) && cover_->holds(decided);
}

void CoverSearch::descend(States states, const Cost& inherited) {
    if (work() >= most_work_) {
        leave_open(inherited);
        return;
    }
    tried_ += 1 + static_cast<std::int64_t>(rules_.size() / kRuleLooks);
    if (!rules_.settle(states)) return;
    const auto relaxed = relax(states);
    if (!relaxed) return;
    const auto hopeless = [&] { return *best_ && !(relaxed->bound < (*best_)->cost); };
    if (hopeless()) return;
    const Attempt made = attempt(states, relaxed->choice);
    exchange();
    const bool legal = made == Attempt::kMade;
    // A rule that the arithmetic does not see stands in the way: others may be better off than it thinks.
    if (made == Attempt::kUnseen) leave_open(relaxed->bound);
    // Whoever else goes would only cost more.
    if (hopeless() || (legal && relaxed->choice.chosen.empty())) return;
    const auto question = next_question(states, relaxed->choice);
    if (!question) return;
    for (bool stay : {question->stay, !question->stay}) {
        States next = states;
        if (stay)
            let_stay(next, question->unit);
        else
            let_go(next, question->unit);
        descend(std::move(next), relaxed->bound);
    }
}

CoverSearch::Attempt CoverSearch::attempt(const States& states, const SlotCover::Choice& choice) {
    const Attempt made = take_and_try(states, choice);
    owner_.reset();
    return made;
}

// What is decided and what the relaxation picked, each unit whole and with what goes along.
std::vector<std::uint32_t> CoverSearch::picked(const States& states, const SlotCover::Choice& choice) const {
    States all = states;
    for (std::uint32_t u : choice.chosen)
        let_go(all, u);
    std::vector<std::uint32_t> out;
    for (std::uint32_t u : owner_.importance_) {
        if (all[u] == UnitState::kGone) out.push_back(u);
    }
    return out;
}

// Takes them for real, if that is allowed and enough.
CoverSearch::Attempt CoverSearch::take_and_try(const States& states, const SlotCover::Choice& choice) {
    std::vector<std::uint32_t> units = picked(states, choice);
    const std::size_t before = units.size();
    if (!rules_.empty() && !add_by_rules(states, units)) return Attempt::kForbidden;
    Attempt made = units.size() > before ? Attempt::kMadeWithOthers : Attempt::kMade;
    if (!spares_hold(units)) {
        if (!by_flow_ || !rules_.empty() || !take_overdrawn_whole(states, units)) return Attempt::kForbidden;
        made = Attempt::kMadeWithOthers;
    }
    if (by_amounts_) {
        give_back(units);
        // Nothing but amounts decides: what is not cheaper need not be tried.
        const Cost cost = owner_.cost_of(units);
        if (*best_ && !(cost < (*best_)->cost)) {
            GangVictims::note_runner_up(units, cost, **best_);
            return made;
        }
        made_ = units;
        is_new_ = true;
    }
    for (std::uint32_t u : units) {
        owner_.take(u);
        tried_ += owner_.list_.units[u].count;
    }
    if (!owner_.fit_.passes() || !owner_.vote(owner_.taken_units())) return Attempt::kUnseen;
    if (!by_amounts_) owner_.give_back();
    owner_.keep_best(*best_);
    return made;
}

// Gangs that lose more than they can spare go whole. False: one of them may not.
bool CoverSearch::take_overdrawn_whole(const States& states, std::vector<std::uint32_t>& units) const {
    States all(states.size(), UnitState::kOpen);
    for (std::uint32_t u : units)
        all[u] = UnitState::kGone;
    for (const Spares& spares : spares_) {
        if (!spares.counted) return false;
        const auto lost =
            std::ranges::count_if(spares.units, [&](std::uint32_t u) { return all[u] == UnitState::kGone; });
        if (static_cast<std::size_t>(lost) <= spares.most) continue;
        if (!may_go_whole(spares, states)) return false;
        let_go(all, static_cast<std::uint32_t>(spares.whole));
    }
    units.clear();
    std::ranges::copy_if(
        owner_.importance_, std::back_inserter(units), [&](std::uint32_t u) { return all[u] == UnitState::kGone; });
    return true;
}

// Where the rules ask for more, more go. False: the rules forbid it all the same.
bool CoverSearch::add_by_rules(const States& states, std::vector<std::uint32_t>& units) const {
    std::vector<bool> gone(states.size());
    for (std::uint32_t u : units)
        gone[u] = true;
    rules_.give_enough(states, weights_, gone);
    if (!rules_.hold(gone)) return false;
    units.clear();
    std::ranges::copy_if(owner_.importance_, std::back_inserter(units), [&](std::uint32_t u) { return gone[u]; });
    return true;
}

// What is not needed stays, as the owner would give it back; by arithmetic.
void CoverSearch::give_back(std::vector<std::uint32_t>& units) const {
    const std::vector<Unit>& all = owner_.list_.units;
    SlotCover::Count count(*cover_);
    std::vector<bool> gone(all.size());
    for (std::uint32_t u : units) {
        count.take(u);
        gone[u] = true;
    }
    const auto come_back = [&](std::uint32_t u) {
        count.give(u);
        gone[u] = false;
        if (count.enough() && rules_.hold(gone)) return true;
        count.take(u);
        gone[u] = true;
        return false;
    };
    // A gang that stays after all gets back what it cannot spare.
    const auto gang_comes_back = [&](std::uint32_t whole) {
        std::vector<std::uint32_t> back{whole};
        for (std::uint32_t u : along_of_[whole]) {
            if (spares_hold(gone)) return;
            if (come_back(u)) back.push_back(u);
        }
        if (spares_hold(gone)) return;
        for (std::uint32_t u : back) {
            count.take(u);
            gone[u] = true;
        }
    };
    const auto try_without = [&](std::uint32_t u) {
        if (!gone[u] || (all[u].whole >= 0 && gone[static_cast<std::size_t>(all[u].whole)])) return;
        if (come_back(u) && all[u].kind == UnitKind::kWhole) gang_comes_back(u);
    };
    for (std::uint32_t u : units)
        try_without(u);
    for (std::uint32_t u : units) {
        if (all[u].kind == UnitKind::kSafe) try_without(u);
    }
    std::erase_if(units, [&](std::uint32_t u) { return !gone[u]; });
}

// Open splits: no gang loses more than it can spare, unless it goes whole.
bool CoverSearch::spares_hold(const std::vector<std::uint32_t>& units) const {
    if (spares_.empty()) return true;
    std::vector<bool> gone(owner_.list_.units.size());
    for (std::uint32_t u : units)
        gone[u] = true;
    return spares_hold(gone);
}

bool CoverSearch::spares_hold(const std::vector<bool>& gone) const {
    const auto is_gone = [&](std::uint32_t u) { return gone[u]; };
    return std::ranges::all_of(spares_, [&](const Spares& spares) {
        if (spares.whole >= 0 && gone[static_cast<std::size_t>(spares.whole)]) return true;
        const auto lost = static_cast<std::size_t>(std::ranges::count_if(spares.units, is_gone));
        if (spares.counted) return lost <= spares.most;
        std::vector<std::uint32_t> mine;
        std::ranges::copy_if(spares.units, std::back_inserter(mine), is_gone);
        return !overdrawn(owner_.session_.snapshot, owner_.list_, mine);
    });
}

// First what was paid for in part, the dearest; then a gang that goes, for its surplus goes with it; then anybody.
std::optional<CoverSearch::Question> CoverSearch::next_question(const States& states,
                                                                const SlotCover::Choice& choice) const {
    const auto dearest = [&](std::span<const std::uint32_t> units) {
        return Question{.unit = *std::ranges::max_element(units, {}, [&](std::uint32_t u) { return weights_[u]; })};
    };
    // Whether a gang goes whole that would lose more than it can spare; if not, whom of its pods it loses.
    for (const Spares& spares : spares_) {
        const auto is_picked = [&](std::uint32_t u) { return std::ranges::binary_search(choice.chosen, u); };
        const auto lost = std::ranges::count_if(
            spares.units, [&](std::uint32_t u) { return states[u] == UnitState::kGone || is_picked(u); });
        if (static_cast<std::size_t>(lost) <= spares.most) continue;
        const UnitState whole = spares.whole >= 0 ? states[static_cast<std::size_t>(spares.whole)] : UnitState::kStays;
        if (whole == UnitState::kOpen) return Question{.unit = static_cast<std::uint32_t>(spares.whole)};
        if (whole == UnitState::kGone) continue;
        std::vector<std::uint32_t> picked_here;
        std::ranges::copy_if(spares.units, std::back_inserter(picked_here), is_picked);
        if (!picked_here.empty()) return dearest(picked_here);
    }
    if (!rules_.empty()) {
        std::vector<bool> gone(states.size());
        for (std::uint32_t u : picked(states, choice))
            gone[u] = true;
        if (const auto question = rules_.undecided(states, gone)) return question;
    }
    if (!choice.partial.empty()) return dearest(choice.partial);
    if (!choice.chosen.empty()) return dearest(choice.chosen);
    const auto open = std::ranges::find(states, UnitState::kOpen);
    if (open == states.end()) return std::nullopt;
    return Question{.unit = static_cast<std::uint32_t>(open - states.begin())};
}

void CoverSearch::let_go(States& states, std::uint32_t unit) const {
    states[unit] = UnitState::kGone;
    for (std::uint32_t u : along_of_[unit])
        states[u] = UnitState::kGone;
}

// If one of several that are alike stays, all of them may: a set with another of them is as good with this one.
void CoverSearch::let_stay(States& states, std::uint32_t unit) const {
    for (std::uint32_t u = 0; u < states.size(); ++u) {
        if (class_of_[u] != class_of_[unit] || states[u] != UnitState::kOpen) continue;
        states[u] = UnitState::kStays;
        // A gang does not go without its surplus here.
        const std::int32_t whole = owner_.list_.units[u].whole;
        if (whole >= 0) states[static_cast<std::size_t>(whole)] = UnitState::kStays;
    }
}

}  // namespace reprieve
