#include "actions/spare.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "plugins/limits.h"
#include "search/units.h"

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

    // One pod's victims on its own node were weighed against nothing else; all others are asked again. A gang may end up
    // elsewhere in its domain than where the search made room for it.
    bool in_doubt(const EvictedUnit& unit) {
        return limits_ || note(unit.note).action != ActionKind::kPreempt ||
               std::ranges::any_of(unit.pods, [&](PodId p) { return shared_.contains(snapshot().pods[p].node); });
    }

    Snapshot& snapshot() { return desk_.session.snapshot; }
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
                EvictedUnit& unit = by_note[op.note];
                unit.note = op.note;
                unit.pods.push_back(op.pod);
            } else {
                if (state != PodState::kPlaced && state != PodState::kNominated) continue;
                placed_[op.pod] = op.note;
                if (owner.empty()) owner = snapshot().pod_name(op.pod);
                limits_ =
                    limits_ || limited(snapshot(), snapshot().pods[op.pod].queue, snapshot().class_of(op.pod).requests);
            }
            const auto [it, fresh] = first_owner.try_emplace(op.node, owner);
            if (!fresh && it->second != owner) shared_.insert(op.node);
        }
        for (auto& [id, unit] : by_note)
            units_.push_back(std::move(unit));
    }

    // Whoever the plan placed must still fit: on the unit's nodes, and everywhere if its rules reach beyond its node.
    bool all_hold(const std::set<NodeId>& nodes) {
        for (const auto& [pod, id] : placed_) {
            const NodeId node = snapshot().pods[pod].node;
            const bool local = desk_.session.filters.node_local(snapshot(), snapshot().class_of(pod)) && !limits_;
            if (local && !nodes.contains(node)) continue;
            const auto mark = desk_.session.tx.checkpoint();
            desk_.session.tx.unplace(pod);
            const Candidate candidate(snapshot(), pod);
            const bool fits =
                within_limits(snapshot(), snapshot().later, snapshot().pods[pod].queue, candidate.cls.requests) &&
                desk_.session.filters.check_view(candidate, snapshot().later, snapshot().later, node).fits();
            desk_.session.tx.rollback(mark);
            if (!fits || !devices_hold(pod, node)) return false;
        }
        return true;
    }

    // The very devices it was given, not just some.
    bool devices_hold(PodId pod, NodeId node) {
        if (snapshot().holds[pod].empty()) return true;
        const std::vector<Device>& devices = snapshot().devices[node];
        const std::vector<DeviceUse>& use = snapshot().later.use(node).devices;
        for (std::size_t i = 0; i < devices.size(); ++i) {
            const bool over = use[i].whole > 1 || (use[i].whole == 1 && use[i].shares > 0) ||
                              use[i].milli > kMilliPerDevice ||
                              (use[i].memory > devices[i].memory && use[i].shares > 0);
            if (over) return false;
        }
        return true;
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
        for (const auto& [pod, id] : placed_) {
            const PodRow& row = snapshot().pods[pod];
            if (!nodes.contains(row.node) || snapshot().holds[pod].empty()) continue;
            seats.push_back({pod, row.node, row.state == PodState::kPlaced ? View::kNow : View::kLater, id});
        }
        for (const Seat& seat : seats)
            desk_.session.tx.unplace(seat.pod);
        for (const Seat& seat : seats) {
            if (!desk_.placer.fits(seat.pod, seat.node, seat.view)) return false;
            desk_.placer.put(seat.pod, seat.node, seat.view, seat.note);
        }
        return !seats.empty();
    }

    // A gang's surplus and core may have been taken for different owners: nothing may come back into a gang that is
    // gone.
    bool back_in_a_broken_gang(const EvictedUnit& unit) {
        if (note(unit.note).unit != UnitKind::kSafe) return false;
        const GangId gang = snapshot().pods[unit.pods.front()].gang;
        if (!gang) return false;
        const GangRow& row = snapshot().gangs[gang];
        const auto lost =
            std::ranges::count_if(row.pods, [&](PodId p) { return snapshot().pods[p].state == PodState::kEvicted; });
        return row.live < row.min && row.live + lost >= row.min;
    }

    void try_to_spare(const EvictedUnit& unit) {
        const auto mark = desk_.session.tx.checkpoint();
        std::set<NodeId> nodes;
        for (PodId pod : unit.pods) {
            nodes.insert(snapshot().pods[pod].node);
            desk_.session.tx.restore(pod);
        }
        if (!back_in_a_broken_gang(unit) && (all_hold(nodes) || (choose_devices_again(nodes) && all_hold(nodes)))) {
            desk_.session.commit(mark);
            desk_.plan.charge_again(desk_.session, note(unit.note).owner);
        } else {
            desk_.session.tx.rollback(mark);
        }
    }

    // Which pods of a gang are its surplus is settled before it is known who stands in the way. If those that must go are
    // few enough, they were the surplus: the rest of the gang stays.
    void relieve_gangs() {
        std::map<GangId, std::map<PodId, std::uint32_t>> losses;  // pods, each with its note
        for (const EvictedUnit& unit : units_) {
            for (PodId pod : unit.pods) {
                const GangId gang = snapshot().pods[pod].gang;
                if (gang && snapshot().pods[pod].state == PodState::kEvicted) losses[gang][pod] = unit.note;
            }
        }
        for (const auto& [gang, pods] : losses) {
            const GangRow& row = snapshot().gangs[gang];
            const bool single = row.fact != nullptr && row.fact->disruption == DisruptionMode::kSingle;
            const bool was_more_than_enough = row.live + static_cast<std::int32_t>(pods.size()) > row.min;
            const bool whole = std::ranges::any_of(
                pods, [&](const auto& item) { return note(item.second).unit == UnitKind::kWhole; });
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
            const auto before = tx.checkpoint();
            tx.restore(pod);
            if (all_hold({snapshot().pods[pod].node})) continue;
            tx.rollback(before);
            must_go.push_back(pod);
        }
        if (must_go.size() == lost.size() || !can_spare(snapshot(), gang, must_go, must_go)) {
            tx.rollback(mark);
            return;
        }
        for (PodId pod : must_go) {
            OpNote safe = note(losses.at(pod));
            safe.unit = UnitKind::kSafe;
            safe.part = ", surplus of its gang";
            safe.violations = std::ranges::any_of(snapshot().class_of(pod).budgets,
                                                  [&](BudgetId id) { return snapshot().budgets[id].left < 0; });
            tx.restore(pod);
            tx.evict(pod, desk_.plan.note(std::move(safe)));
        }
        desk_.session.commit(mark);
        std::set<std::string> owners;
        for (const auto& [pod, id] : losses)
            owners.insert(note(id).owner);
        for (const std::string& owner : owners)
            desk_.plan.charge_again(desk_.session, owner);
    }

    Desk& desk_;
    std::vector<EvictedUnit> units_;
    std::set<NodeId> shared_;
    std::map<PodId, std::uint32_t> placed_;  // each with its note
    bool limits_ = false;
};

}  // namespace

void spare_superfluous(Desk& desk) { LastLook(desk).run(); }

}  // namespace reprieve
