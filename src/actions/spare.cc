#include "actions/spare.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>

#include "actions/holds.h"
#include "plugins/limits.h"
#include "plugins/quota_vote.h"
#include "search/surplus.h"

namespace reprieve {
namespace {

struct EvictedUnit {
    std::uint32_t note = 0;
    std::vector<PodId> pods;
};

class LastLook {
public:
    explicit LastLook(Desk& desk) : desk_(desk) {}

    void run() {
        collect();
        spare_units();
        relieve_gangs();
    }

private:
    void spare_units() {
        std::ranges::stable_sort(units_,
                                 [&](const EvictedUnit& a, const EvictedUnit& b) { return priority(a) > priority(b); });
        for (const EvictedUnit& unit : units_) {
            if (in_doubt(unit)) try_to_spare(unit);
        }
    }

    // One pod's victims on its own node were weighed against nothing else; all others are asked again. A gang may end
    // up elsewhere in its domain than where the search made room for it.
    bool in_doubt(const EvictedUnit& unit) {
        if (counts_for_a_reclaim(unit.pods)) return false;
        return limits_ || note(unit.note).action != ActionKind::kPreempt ||
               std::ranges::any_of(unit.pods, [&](PodId p) { return shared_.contains(snapshot().pods[p].node); });
    }

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
    std::int32_t priority(const EvictedUnit& unit) { return note(unit.note).priority; }

    // Units in the journal, and the nodes where more than one owner had a hand.
    void collect() {
        std::map<std::uint32_t, EvictedUnit> by_note;
        std::map<NodeId, std::string> first_owner;
        for (const Op& op : desk_.session.tx.journal()) {
            const PodState state = snapshot().pods[op.pod].state;
            if (op.sign < 0) continue;
            std::string owner = desk_.plan.note_of(op).owner;
            if (op.kind == OpKind::kEvict) {
                if (state != PodState::kEvicted) continue;
                // Who goes for nobody (to balance queues, say) is not weighed by who is placed.
                if (!owner.empty()) {
                    const QueueId giver = snapshot().pods[op.pod].queue;
                    if (desk_.plan.note_of(op).action == ActionKind::kJobPreempt && is_in_quota(snapshot(), giver))
                        givers_[owner].insert(giver);
                    EvictedUnit& unit = by_note[op.note];
                    unit.note = op.note;
                    unit.pods.push_back(op.pod);
                }
            } else {
                if (state != PodState::kPlaced && state != PodState::kNominated) continue;
                note_placed(op.pod, op.node);
                notes_[op.pod] = op.note;
                const QueueId queue = snapshot().pods[op.pod].queue;
                if (owner.empty()) owner = snapshot().pod_name(op.pod);
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
        for (auto& [id, unit] : by_note)
            units_.push_back(std::move(unit));
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
        if (!placed_.insert(pod).second) return;
        in_order_.push_back(pod);
        on_node_[node].push_back(pod);
        const PodClass& cls = snapshot().class_of(pod);
        if (!desk_.session.filters.node_local(snapshot(), cls)) far_reaching_.push_back(pod);
        for (const auto& [dim, value] : cls.requests) {
            if (value <= 0 || !snapshot().pods[pod].queue) continue;
            std::vector<Dim>& dims = asked_[{snapshot().pods[pod].queue, !limits().is_fixed(pod)}];
            if (std::ranges::find(dims, dim) == dims.end()) dims.push_back(dim);
        }
    }

    // With `back` restored: whoever the plan placed on these nodes or with rules that reach further still fits, no
    // queue that the plan placed pods in is above a limit by it, and none above its grant.
    bool all_hold(const std::set<NodeId>& nodes, std::span<const PodId> back) {
        if (!limits().within_grants(snapshot().later, back)) return false;
        for (NodeId node : nodes) {
            const auto there = on_node_.find(node);
            if (there == on_node_.end()) continue;
            if (!std::ranges::all_of(there->second, [&](PodId p) { return placement_holds(desk_, p); })) return false;
        }
        return std::ranges::all_of(far_reaching_, [&](PodId p) { return placement_holds(desk_, p); }) &&
               std::ranges::none_of(asked_, [&](const auto& item) {
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
        for (PodId pod : in_order_) {
            const PodRow& row = snapshot().pods[pod];
            if (!nodes.contains(row.node) || snapshot().holds[pod].empty()) continue;
            seats.push_back(
                {pod, row.node, row.state == PodState::kPlaced ? View::kNow : View::kLater, notes_.at(pod)});
        }
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

    // A gang's surplus and core may have been taken for different owners: nothing may come back into a gang that is
    // gone.
    bool back_in_a_broken_gang(const EvictedUnit& unit) {
        if (note(unit.note).unit != UnitKind::kSafe) return false;
        const GangId gang = snapshot().pods[unit.pods.front()].gang;
        if (!gang) return false;
        std::vector<PodId> lost;
        std::ranges::copy_if(snapshot().gangs[gang].pods, std::back_inserter(lost), [&](PodId p) {
            return snapshot().pods[p].state == PodState::kEvicted;
        });
        return !can_spare(snapshot(), gang, lost, lost);
    }

    void try_to_spare(const EvictedUnit& unit) {
        const auto mark = desk_.session.tx.checkpoint();
        std::set<NodeId> nodes;
        for (PodId pod : unit.pods) {
            nodes.insert(snapshot().pods[pod].node);
            desk_.session.tx.restore(pod);
        }
        if (!back_in_a_broken_gang(unit) && hold_with(nodes, unit.pods)) {
            start_at_once(note(unit.note).owner);
            desk_.session.commit(mark);
            desk_.plan.charge_again(desk_.session, note(unit.note).owner);
        } else {
            desk_.session.tx.rollback(mark);
        }
    }

    // Nobody goes for it any more: it need not wait, if it fits as things are.
    void start_at_once(const std::string& owner) {
        const auto still_goes = [&](const EvictedUnit& unit) {
            return note(unit.note).owner == owner && snapshot().pods[unit.pods.front()].state == PodState::kEvicted;
        };
        if (std::ranges::any_of(units_, still_goes)) return;
        const auto mark = desk_.session.tx.checkpoint();
        std::vector<std::pair<PodId, NodeId>> seats;
        for (PodId pod : in_order_) {
            const PodRow& row = snapshot().pods[pod];
            const std::string& of = note(notes_.at(pod)).owner;
            if (row.state == PodState::kNominated && owner == (of.empty() ? snapshot().pod_name(pod) : of))
                seats.emplace_back(pod, row.node);
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
        for (const EvictedUnit& unit : units_) {
            for (PodId pod : unit.pods) {
                const GangId gang = snapshot().pods[pod].gang;
                if (gang && snapshot().pods[pod].state == PodState::kEvicted) losses[gang][pod] = unit.note;
            }
        }
        std::vector<GangId> gangs;
        for (const auto& [gang, pods] : losses)
            gangs.push_back(gang);
        std::ranges::sort(gangs, {}, [&](GangId g) { return snapshot().gang_name(g); });
        for (GangId gang : gangs) {
            const auto& pods = losses.at(gang);
            const GangRow& row = snapshot().gangs[gang];
            const bool single = row.fact != nullptr && row.fact->disruption == DisruptionMode::kSingle;
            const bool was_more_than_enough = row.live + static_cast<std::int32_t>(pods.size()) > row.min;
            const bool whole =
                std::ranges::any_of(pods, [&](const auto& item) { return note(item.second).unit == UnitKind::kWhole; });
            if (row.min > 0 && !row.one_unit() && !single && whole && was_more_than_enough) relieve(gang, pods);
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
            if (x.started != y.started) return x.started < y.started;
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
        std::set<std::string> owners;
        for (const auto& [pod, id] : losses)
            owners.insert(note(id).owner);
        for (const std::string& owner : owners)
            desk_.plan.charge_again(desk_.session, owner);
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
            safe.violations = safe.violations > 0 && finds_budget_spent(pod) ? 1 : 0;
            tx.evict(pod, desk_.plan.note(std::move(safe)));
        }
    }

    bool finds_budget_spent(PodId pod) {
        return std::ranges::any_of(snapshot().class_of(pod).budgets, [&](BudgetId id) {
            const BudgetRow& budget = snapshot().budgets[id];
            const bool counted =
                std::ranges::binary_search(budget.fact->disrupted_pods, snapshot().facts->pod(pod).name);
            return !counted && budget.left <= 0;
        });
    }

    Desk& desk_;
    std::vector<EvictedUnit> units_;
    std::set<NodeId> shared_;
    std::set<PodId> placed_;
    std::vector<PodId> in_order_;  // the same, as they were served
    std::map<NodeId, std::vector<PodId>> on_node_;
    std::vector<PodId> far_reaching_;                             // of those, with rules that look beyond their node
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
