#include "actions/spare.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "plugins/limits.h"

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
        if (owners_.size() < 2) return;
        std::ranges::stable_sort(units_,
                                 [&](const EvictedUnit& a, const EvictedUnit& b) { return priority(a) > priority(b); });
        for (const EvictedUnit& unit : units_) {
            if (std::ranges::any_of(unit.pods, [&](PodId p) { return shared_.contains(snapshot().pods[p].node); }) ||
                limits_)
                try_to_spare(unit);
        }
    }

private:
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
                owners_.insert(owner);
            } else {
                if (state != PodState::kPlaced && state != PodState::kNominated) continue;
                placed_.insert(op.pod);
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
        for (PodId pod : placed_) {
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

    // A gang's surplus and core may have been taken for different owners: nothing may come back into a gang that is
    // gone.
    bool gang_gone(const EvictedUnit& unit) {
        if (note(unit.note).unit != UnitKind::kSafe) return false;
        const GangId gang = snapshot().pods[unit.pods.front()].gang;
        return gang && snapshot().gangs[gang].live < snapshot().gangs[gang].min;
    }

    void try_to_spare(const EvictedUnit& unit) {
        if (gang_gone(unit)) return;
        const auto mark = desk_.session.tx.checkpoint();
        std::set<NodeId> nodes;
        for (PodId pod : unit.pods) {
            nodes.insert(snapshot().pods[pod].node);
            desk_.session.tx.restore(pod);
        }
        if (all_hold(nodes)) {
            desk_.session.commit(mark);
            desk_.plan.charge_again(desk_.session, note(unit.note).owner);
        } else {
            desk_.session.tx.rollback(mark);
        }
    }

    Desk& desk_;
    std::vector<EvictedUnit> units_;
    std::set<std::string> owners_;
    std::set<NodeId> shared_;
    std::set<PodId> placed_;
    bool limits_ = false;
};

}  // namespace

void spare_superfluous(Desk& desk) { LastLook(desk).run(); }

}  // namespace reprieve
