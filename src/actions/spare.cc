#include "actions/spare.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>

#include "actions/holds.h"
#include "plugins/limits.h"
#include "plugins/quota_vote.h"
#include "search/budgets_left.h"
#include "search/surplus.h"
#include "search/victim_problem.h"

namespace reprieve {
namespace {

class LastLook {
public:
    explicit LastLook(Desk& desk) : desk_(desk) {}

    void run() {
        collect();
        spare_units();
        relieve_gangs();
        desk_.plan.charge_again(desk_.session, spared_);
    }

private:
    // What each costs is a matter of its owner's bill (charge_again); the problem has no price of its own.
    void spare_units() {
        const VictimProblem problem(
            list_, {.snapshot = &snapshot(), .need = {}, .queue_order = {}}, {.at_most = {}, .vote_order = {}}, false);
        std::vector<bool> gone(list_.units.size(), true);
        // Whoever comes back may be what another one's return lacked (a match for a rule of affinity): all are asked
        // until nobody comes back any more.
        for (bool any = true; any;) {
            any = false;
            for (std::uint32_t unit : problem.return_order()) {
                // Nothing comes back into a gang that is gone.
                if (!gone[unit] || is_for_nobody(unit) || problem.is_bound(unit, gone) || !in_doubt(unit)) continue;
                gone[unit] = !try_to_spare(unit);
                any = any || !gone[unit];
            }
        }
    }

    // One pod's victims on its own node were weighed against nothing else; all others are asked again. A gang may end
    // up elsewhere in its domain than where the search made room for it.
    bool in_doubt(std::uint32_t unit) {
        if (counts_for_a_reclaim(pods_of(unit))) return false;
        const std::vector<PodId>& served = placed_for_[note_of(unit).owner];
        const auto apart = [&](PodId victim) {
            const NodeId node = snapshot().pods[victim].node;
            return shared_.contains(node) ||
                   (!served.empty() &&  // a pod that grows in its place is not placed
                    std::ranges::none_of(served, [&](PodId p) { return snapshot().pods[p].node == node; }));
        };
        return limits_ || note_of(unit).action != ActionKind::kPreempt || std::ranges::any_of(pods_of(unit), apart);
    }

    // Who goes for nobody (to balance queues, say) is not weighed by who is placed.
    bool is_for_nobody(std::uint32_t unit) { return note_of(unit).owner.empty(); }

    // With it back, its queue would use more, and a reclaim for that queue or one beside it would lose its right.
    bool counts_for_a_reclaim(std::span<const PodId> pods) {
        return std::ranges::any_of(pods, [&](PodId p) {
            const QueueId queue = snapshot().pods[p].queue;
            return queue &&
                   (std::ranges::any_of(below_the_root(queue), [&](QueueId q) { return reclaiming_.contains(q); }) ||
                    std::ranges::any_of(snapshot().queue_path[queue], [&](QueueId q) { return bound_.contains(q); }));
        });
    }

    // The root of a tree is everybody's: it tells nobody apart.
    std::span<const QueueId> below_the_root(QueueId queue) {
        const std::span<const QueueId> path(snapshot().queue_path[queue]);
        return path.size() > 1 ? path.first(path.size() - 1) : path;
    }

    Snapshot& snapshot() { return desk_.session.snapshot; }
    const Limits& limits() { return desk_.session.limits; }
    const OpNote& note(std::uint32_t id) { return desk_.plan.note_of(Op{.note = id}); }
    const OpNote& note_of(std::uint32_t unit) { return note(unit_notes_[unit]); }
    std::span<const PodId> pods_of(std::uint32_t unit) { return list_.pods_of(list_.units[unit]); }

    // Units in the journal, and the nodes where more than one owner had a hand.
    void collect() {
        std::map<std::uint32_t, std::vector<PodId>> evicted;  // by note: each stands for a unit
        std::map<NodeId, std::string> first_owner;
        const auto journal = desk_.session.tx.journal();
        // A pod that lost its place within this plan and got another one stands where its last op put it.
        std::unordered_map<PodId, std::size_t> last;
        last.reserve(journal.size());
        for (std::size_t i = 0; i < journal.size(); ++i)
            last[journal[i].pod] = i;
        for (std::size_t i = 0; i < journal.size(); ++i) {
            const Op& op = journal[i];
            const PodState state = snapshot().pods[op.pod].state;
            if (op.sign < 0 || last.at(op.pod) != i) continue;
            std::string owner = desk_.plan.note_of(op).owner;
            if (op.kind == OpKind::kEvict) {
                if (state != PodState::kEvicted) continue;
                std::vector<PodId>& unit = evicted[op.note];
                // One pod tells of its unit: all of it goes, or all of it is spared.
                if (unit.empty() && !owner.empty()) victims_for_[owner].push_back(op.pod);
                unit.push_back(op.pod);
                if (!owner.empty()) {
                    const QueueId giver = snapshot().pods[op.pod].queue;
                    if (desk_.plan.note_of(op).action == ActionKind::kJobPreempt && is_in_quota(snapshot(), giver))
                        givers_[owner].insert(giver);
                }
            } else {
                if (state != PodState::kPlaced && state != PodState::kNominated) continue;
                note_placed(op.pod, op.node);
                notes_[op.pod] = op.note;
                const QueueId queue = snapshot().pods[op.pod].queue;
                if (owner.empty()) owner = snapshot().pod_name(op.pod);
                placed_for_[owner].push_back(op.pod);
                if (queue && desk_.plan.note_of(op).action == ActionKind::kGangReclaim) {
                    const auto path = below_the_root(queue);
                    reclaiming_.insert(path.begin(), path.end());
                }
                if (queue) bind_to_minimums(owner, queue);
                limits_ = limits_ || limits().bind(op.pod, snapshot().class_of(op.pod).requests);
            }
            const auto [it, fresh] = first_owner.try_emplace(op.node, owner);
            if (!fresh && it->second != owner) shared_.insert(op.node);
        }
        for (const auto& [id, pods] : evicted)
            list_unit(id, pods);
        link_gangs();
    }

    void list_unit(std::uint32_t id, std::span<const PodId> pods) {
        const GangId gang = snapshot().pods[pods.front()].gang;
        Unit unit{.kind = note(id).unit,
                  .gang = gang,
                  .priority = note(id).priority,
                  .rank = !gang ? 1 : (snapshot().gangs[gang].whole_root ? 3 : 2),
                  .first = static_cast<std::uint32_t>(list_.pods.size()),
                  .count = static_cast<std::uint32_t>(pods.size()),
                  .start_us = INT64_MAX,
                  .violations = note(id).violations};
        for (PodId pod : pods)
            unit.start_us = std::min(unit.start_us, snapshot().started(pod).us);
        list_.pods.insert(list_.pods.end(), pods.begin(), pods.end());
        list_.units.push_back(unit);
        unit_notes_.push_back(id);
    }

    // A gang's surplus and core may have been taken for different owners. A gang whose pods go one by one is never gone
    // as a whole.
    void link_gangs() {
        std::map<GangId, std::int32_t> wholes;
        for (std::size_t u = 0; u < list_.units.size(); ++u) {
            const Unit& unit = list_.units[u];
            if (unit.kind == UnitKind::kWhole && unit.gang && !goes_pod_by_pod(snapshot().gangs[unit.gang]))
                wholes.emplace(unit.gang, static_cast<std::int32_t>(u));
        }
        for (Unit& unit : list_.units) {
            const auto whole = unit.kind == UnitKind::kSafe ? wholes.find(unit.gang) : wholes.end();
            if (whole != wholes.end()) unit.whole = whole->second;
        }
    }

    // A job that other quotas gave back to must stay within the minimums of its own.
    void bind_to_minimums(const std::string& owner, QueueId queue) {
        for (QueueId giver : givers_[owner]) {
            if (giver == queue) continue;
            const auto levels = levels_given_to(snapshot(), queue, giver);
            bound_.insert(levels.begin(), levels.end());
        }
    }

    void note_placed(PodId pod, NodeId node) {
        place_in_order_.emplace(pod, place_in_order_.size());
        on_node_[node].push_back(pod);
        const PodClass& cls = snapshot().class_of(pod);
        note_far_reaching(pod, cls);
        for (const auto& [dim, value] : cls.requests) {
            if (value <= 0 || !snapshot().pods[pod].queue) continue;
            std::vector<Dim>& dims = asked_[{snapshot().pods[pod].queue, !limits().is_fixed(pod)}];
            if (std::ranges::find(dims, dim) == dims.end()) dims.push_back(dim);
        }
    }

    // By terms that speak of it; if it has rules that look beyond its node, by what those look at.
    void note_far_reaching(PodId pod, const PodClass& cls) {
        for (TermId term : cls.matched)
            spoken_of_[term].push_back(pod);
        if (desk_.session.filters.node_local(snapshot(), cls)) return;
        if (!cls.volumes.empty()) with_volumes_.push_back(pod);
        if (cls.has_claims) with_claims_.push_back(pod);
        for (TermId term : cls.affinity)
            by_term_[term].push_back(pod);
        for (TermId term : cls.anti_affinity) {
            by_term_[term].push_back(pod);
            keeping_away_[term].push_back(pod);
        }
        for (const ClassSpread& spread : cls.spread)
            by_term_[spread.term].push_back(pod);
    }

    // Whoever was placed and has a rule that counts one of these pods, or is kept away by one of theirs, still fits.
    // Others cannot tell whether they are there.
    bool far_reaching_hold(std::span<const PodId> back) {
        std::set<PodId> asked(with_volumes_.begin(), with_volumes_.end());
        const auto ask = [&](const std::map<TermId, std::vector<PodId>>& pods, TermId term) {
            if (const auto at = pods.find(term); at != pods.end()) asked.insert(at->second.begin(), at->second.end());
        };
        for (PodId pod : back) {
            // Whoever comes back takes its devices again, and they may be promised on any node that they reach.
            if (!snapshot().device_claims.of(pod).holds.empty()) asked.insert(with_claims_.begin(), with_claims_.end());
            for (TermId term : snapshot().class_of(pod).matched)
                ask(by_term_, term);
            for (TermId term : snapshot().class_of(pod).anti_affinity)
                ask(spoken_of_, term);
        }
        return std::ranges::all_of(asked, [&](PodId p) { return holds_in_turn(p); });
    }

    // Whether it fits beside those who were served before it, and, if it waits for victims, also without those of them
    // who wait as well: they may never come. Whoever was served later is asked with this one there.
    bool holds_in_turn(PodId pod) {
        const PodClass& cls = snapshot().class_of(pod);
        if (desk_.session.filters.node_local(snapshot(), cls)) return placement_holds(desk_, pod);
        const std::size_t turn = place_in_order_.at(pod);
        const bool waits = snapshot().pods[pod].state == PodState::kNominated;
        return holds_without(pod, [&](PodId other) { return place_in_order_.at(other) > turn; }) &&
               (!waits || holds_without(pod, [&](PodId other) {
                   return place_in_order_.at(other) > turn || snapshot().pods[other].state == PodState::kNominated;
               }));
    }

    // Of the pods that a rule of this one speaks of, or that keep away from it, those do not count. Its own gang does.
    template <class Left>
    bool holds_without(PodId pod, Left left) {
        const PodClass& cls = snapshot().class_of(pod);
        std::set<PodId> lifted;
        const auto lift = [&](const std::map<TermId, std::vector<PodId>>& pods, TermId term) {
            const auto at = pods.find(term);
            if (at == pods.end()) return;
            const GangId gang = snapshot().pods[pod].gang;
            for (PodId other : at->second) {
                if (other != pod && !(gang && snapshot().pods[other].gang == gang) && left(other)) lifted.insert(other);
            }
        };
        for (TermId term : cls.affinity)
            lift(spoken_of_, term);
        for (TermId term : cls.anti_affinity)
            lift(spoken_of_, term);
        for (const ClassSpread& spread : cls.spread)
            lift(spoken_of_, spread.term);
        for (TermId term : cls.matched)
            lift(keeping_away_, term);
        if (lifted.empty()) return placement_holds(desk_, pod);
        const auto mark = desk_.session.tx.checkpoint();
        for (PodId other : lifted)
            desk_.session.tx.unplace(other);
        const bool holds = placement_holds(desk_, pod);
        desk_.session.tx.rollback(mark);
        return holds;
    }

    // With `back` restored: whoever the plan placed on these nodes or with rules that reach further still fits, no
    // queue that the plan placed pods in is above a limit by it, and none above its grant.
    bool all_hold(const std::set<NodeId>& nodes, std::span<const PodId> back) {
        if (!limits().within_grants(snapshot().later, back)) return false;
        for (NodeId node : nodes) {
            const auto there = on_node_.find(node);
            if (there == on_node_.end()) continue;
            if (!std::ranges::all_of(there->second, [&](PodId p) { return holds_in_turn(p); })) return false;
        }
        return far_reaching_hold(back) && std::ranges::none_of(asked_, [&](const auto& item) {
                   const auto [queue, preemptible] = item.first;
                   return shares_limit_with(queue, back) &&
                          limits().exceeded(snapshot().later, queue, item.second, preemptible);
               });
    }

    bool shares_limit_with(QueueId queue, std::span<const PodId> pods) {
        return std::ranges::any_of(pods, [&](PodId p) { return limits().shared(snapshot().pods[p].queue, queue); });
    }

    // Whoever comes back takes the devices it had; those that the plan gave away may be replaced by others.
    bool choose_devices_again(const std::set<NodeId>& nodes) {
        struct Seat {
            PodId pod;
            NodeId node;
            View view;
            std::uint32_t note;
        };
        std::vector<Seat> seats;
        for (NodeId node : nodes) {
            const auto there = on_node_.find(node);
            if (there == on_node_.end()) continue;
            for (PodId pod : there->second) {
                const PodRow& row = snapshot().pods[pod];
                if (row.node != node || snapshot().holds[pod].empty()) continue;
                seats.push_back(
                    {pod, row.node, row.state == PodState::kPlaced ? View::kNow : View::kLater, notes_.at(pod)});
            }
        }
        std::ranges::sort(seats, {}, [&](const Seat& seat) { return place_in_order_.at(seat.pod); });
        for (const Seat& seat : seats)
            desk_.session.tx.unplace(seat.pod);
        for (const Seat& seat : seats) {
            if (!desk_.placer.fits(seat.pod, seat.node, seat.view)) return false;
            desk_.placer.put(seat.pod, seat.node, seat.view, seat.note);
        }
        return !seats.empty();
    }

    // The same, if need be with other devices. False: to be rolled back.
    bool hold_with(const std::set<NodeId>& nodes, std::span<const PodId> back) {
        return all_hold(nodes, back) || (choose_devices_again(nodes) && all_hold(nodes, back));
    }

    bool try_to_spare(std::uint32_t unit) {
        const auto mark = desk_.session.tx.checkpoint();
        const std::span<const PodId> pods = pods_of(unit);
        std::set<NodeId> nodes;
        for (PodId pod : pods) {
            nodes.insert(snapshot().pods[pod].node);
            desk_.session.tx.restore(pod);
        }
        if (!hold_with(nodes, pods)) {
            desk_.session.tx.rollback(mark);
            return false;
        }
        const std::string& owner = note_of(unit).owner;
        start_at_once(owner);
        desk_.session.commit(mark);
        spared_.insert(owner);
        if (std::ranges::any_of(pods, [&](PodId p) { return makes_a_difference(p); })) desk_.plan.doubt_after(owner);
        return true;
    }

    // To those who were served after it was taken, beyond the room that it takes up.
    bool makes_a_difference(PodId pod) {
        const PodClass& cls = snapshot().class_of(pod);
        return !cls.budgets.empty() || !cls.matched.empty() || !cls.affinity.empty() || snapshot().pods[pod].gang;
    }

    // Nobody goes for it any more: it need not wait, if it fits as things are.
    void start_at_once(const std::string& owner) {
        const auto still_goes = [&](PodId victim) { return snapshot().pods[victim].state == PodState::kEvicted; };
        if (std::ranges::any_of(victims_for_[owner], still_goes)) return;
        const auto mark = desk_.session.tx.checkpoint();
        std::vector<std::pair<PodId, NodeId>> seats;
        for (PodId pod : placed_for_[owner]) {
            const PodRow& row = snapshot().pods[pod];
            if (row.state == PodState::kNominated) seats.emplace_back(pod, row.node);
        }
        for (const auto& [pod, node] : seats)
            desk_.session.tx.unplace(pod);
        for (const auto& [pod, node] : seats) {
            if (!desk_.placer.fits(pod, node, View::kNow)) {
                desk_.session.tx.rollback(mark);
                return;
            }
            desk_.placer.put(pod, node, View::kNow, notes_.at(pod));
        }
    }

    // Which pods of a gang are its surplus is settled before it is known who stands in the way. If those that must go
    // are few enough, they were the surplus: the rest of the gang stays.
    void relieve_gangs() {
        std::map<GangId, std::map<PodId, std::uint32_t>> losses;  // pods, each with its note
        for (std::uint32_t unit = 0; unit < list_.units.size(); ++unit) {
            if (is_for_nobody(unit)) continue;
            for (PodId pod : pods_of(unit)) {
                const GangId gang = snapshot().pods[pod].gang;
                if (gang && snapshot().pods[pod].state == PodState::kEvicted) losses[gang][pod] = unit_notes_[unit];
            }
        }
        std::vector<GangId> gangs;
        for (const auto& [gang, pods] : losses)
            gangs.push_back(gang);
        std::ranges::sort(gangs, {}, [&](GangId g) { return snapshot().gang_name(g); });
        for (GangId gang : gangs) {
            const auto& pods = losses.at(gang);
            const GangRow& row = snapshot().gangs[gang];
            const bool was_more_than_enough = row.live + static_cast<std::int32_t>(pods.size()) > row.min;
            const bool whole =
                std::ranges::any_of(pods, [&](const auto& item) { return note(item.second).unit == UnitKind::kWhole; });
            if (row.min > 0 && !row.one_unit() && !goes_pod_by_pod(row) && whole && was_more_than_enough)
                relieve(gang, pods);
        }
    }

    void relieve(GangId gang, const std::map<PodId, std::uint32_t>& losses) {
        Transaction& tx = desk_.session.tx;
        const auto mark = tx.checkpoint();
        std::vector<PodId> lost;
        for (const auto& [pod, id] : losses)
            lost.push_back(pod);
        std::ranges::sort(lost, [&](PodId a, PodId b) {
            const PodRow& x = snapshot().pods[a];
            const PodRow& y = snapshot().pods[b];
            if (x.priority != y.priority) return x.priority > y.priority;
            if (snapshot().started(a) != snapshot().started(b)) return snapshot().started(a) < snapshot().started(b);
            return snapshot().name_less(a, b);
        });
        std::vector<PodId> must_go;
        for (PodId pod : lost) {
            const std::span<const PodId> one(&pod, 1);
            const auto before = tx.checkpoint();
            tx.restore(pod);
            if (!counts_for_a_reclaim(one) && hold_with({snapshot().pods[pod].node}, one)) continue;
            tx.rollback(before);
            must_go.push_back(pod);
        }
        if (!can_spare(snapshot(), gang, must_go, must_go)) {
            tx.rollback(mark);
            return;
        }
        evict_as_surplus(must_go, losses);
        desk_.session.commit(mark);
        for (const auto& [pod, id] : losses) {
            spared_.insert(note(id).owner);
            desk_.plan.doubt_after(note(id).owner);
        }
    }

    // One after another, from most important down: who finds a budget spent breaks it. Who broke none as part of more
    // breaks none alone.
    void evict_as_surplus(std::span<const PodId> pods, const std::map<PodId, std::uint32_t>& notes) {
        Transaction& tx = desk_.session.tx;
        for (PodId pod : pods)
            tx.restore(pod);
        for (PodId pod : pods) {
            OpNote safe = note(notes.at(pod));
            safe.unit = UnitKind::kSafe;
            safe.part = ", surplus of its gang";
            safe.violations = safe.violations > 0 && !BudgetsLeft(snapshot()).take(pod) ? 1 : 0;
            tx.evict(pod, desk_.plan.note(std::move(safe)));
        }
    }

    Desk& desk_;
    UnitList list_;                          // who goes, for whomever
    std::vector<std::uint32_t> unit_notes_;  // by unit
    std::set<NodeId> shared_;
    std::map<PodId, std::size_t> place_in_order_;  // of those that the plan placed, as they were served
    std::map<NodeId, std::vector<PodId>> on_node_;
    std::map<TermId, std::vector<PodId>> by_term_;                // of those, whose rules speak of others by this term
    std::map<TermId, std::vector<PodId>> spoken_of_;              // of those, whom this term speaks of
    std::map<TermId, std::vector<PodId>> keeping_away_;           // of those, who keep away from others by this term
    std::vector<PodId> with_volumes_;                             // of those, whose volumes may be held elsewhere
    std::vector<PodId> with_claims_;                              // of those, whose devices may be held elsewhere
    std::map<std::string, std::vector<PodId>> placed_for_;        // by owner
    std::map<std::string, std::vector<PodId>> victims_for_;       // by owner, one pod of each unit
    std::set<std::string> spared_;                                // owners for whom fewer go than before
    std::map<std::pair<QueueId, bool>, std::vector<Dim>> asked_;  // what was placed in which queue; true: preemptible
    std::map<std::string, std::set<QueueId>> givers_;             // by owner: quotas that jobPreempt took from
    std::set<QueueId> bound_;                                     // quotas that must not hold more after that
    std::set<QueueId> reclaiming_;          // queues that reclaim in this plan, and those above them but the root
    std::map<PodId, std::uint32_t> notes_;  // of those
    bool limits_ = false;
};

}  // namespace

void spare_superfluous(Desk& desk) { LastLook(desk).run(); }

}  // namespace reprieve
