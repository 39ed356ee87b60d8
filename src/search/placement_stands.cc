#include "search/placement_stands.h"

#include <algorithm>

#include "state/claim_questions.h"

namespace reprieve {
namespace {

// The very devices it was given, not just some.
bool devices_stand(const Snapshot& s, PodId pod, NodeId node) {
    if (s.class_of(pod).has_claims && !given_devices_stand(s, pod)) return false;
    if (s.holds[pod].empty()) return true;
    const std::vector<Device>& devices = s.devices[node];
    const std::vector<DeviceUse>& use = s.later.use(node).devices;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        if (!overfull(devices[i], use[i])) continue;
        // Others may hold more of their devices than there is: their device plugin let them.
        if (std::ranges::find(s.holds[pod], devices[i].index, &DeviceHold::index) != s.holds[pod].end()) return false;
    }
    return true;
}

// The pod, and the members of its gang that this plan placed, where one of them must be near others.
std::vector<PodId> company_of(const Snapshot& s, PodId pod) {
    const GangId gang = s.pods[pod].gang;
    std::vector<PodId> out;
    bool near = false;
    if (gang) {
        for (PodId mate : s.gangs[gang].pods) {
            const PodState state = s.pods[mate].state;
            if (state != PodState::kPlaced && state != PodState::kNominated) continue;
            out.push_back(mate);
            near = near || !s.class_of(mate).affinity.empty();
        }
    }
    if (!near) out.assign(1, pod);
    return out;
}

}  // namespace

bool placement_stands(Session& session, PodId pod) {
    struct Seat {
        PodId pod;
        NodeId node;
        bool now = false;
        std::vector<DeviceHold> devices;
    };
    const Snapshot& s = session.snapshot;
    std::vector<Seat> lifted;
    for (PodId p : company_of(s, pod)) {
        const PodRow& row = s.pods[p];
        lifted.push_back({p, row.node, row.state == PodState::kPlaced, s.holds[p]});
    }
    const bool devices =
        std::ranges::all_of(lifted, [&](const Seat& seat) { return devices_stand(s, seat.pod, seat.node); });
    const auto mark = session.tx.checkpoint();
    for (const Seat& seat : lifted)
        session.tx.unplace(seat.pod);
    const auto returns = [&](const Seat& seat) {
        const Candidate candidate(s, seat.pod);
        if (!session.limits.admit(s.later, seat.pod) ||
            !session.filters.check_view(candidate, s.later, s.later, seat.node).fits())
            return false;
        if (lifted.size() == 1) return true;
        if (seat.now)
            session.tx.place(seat.pod, seat.node, seat.devices);
        else
            session.tx.nominate(seat.pod, seat.node, seat.devices);
        return true;
    };
    while (std::erase_if(lifted, returns) > 0) {
    }
    session.tx.rollback(mark);
    return lifted.empty() && devices;
}

SecondPass::SecondPass(Session& session, PodId pod) : session_(session), candidate_(session.snapshot, pod) {
    const Snapshot& s = session.snapshot;
    const PodClass& cls = candidate_.cls;
    const auto nominated = [&](TermId term) { return session.tx.promised().nominated_total(term) > 0; };
    harmed_ = cls.has_claims && session.filters.on(FilterId::kDynamicResources) && free_devices_can_harm(s, pod);
    matters_ = harmed_ || std::ranges::any_of(cls.affinity, nominated) ||
               std::ranges::any_of(cls.spread, nominated, &ClassSpread::term);
    const GangId own = s.pods[pod].gang;
    if (!matters_ || (!own && !harmed_)) return;
    for (const Op& op : session.tx.journal()) {
        if (op.kind != OpKind::kNominate || op.sign < 0 || s.pods[op.pod].state != PodState::kNominated) continue;
        if (own && s.pods[op.pod].gang == own) continue;
        const std::vector<TermId>& matched = s.class_of(op.pod).matched;
        const auto counts = [&](TermId term) { return std::ranges::binary_search(matched, term); };
        if ((harmed_ && s.class_of(op.pod).has_claims) || std::ranges::any_of(cls.affinity, counts) ||
            std::ranges::any_of(cls.spread, counts, &ClassSpread::term))
            lifted_.push_back(op.pod);
    }
    std::ranges::sort(lifted_);
    const auto repeated = std::ranges::unique(lifted_);
    lifted_.erase(repeated.begin(), repeated.end());
}

bool SecondPass::passes(NodeId node) const {
    const Snapshot& s = session_.snapshot;
    if (!matters_) return true;
    if (!s.pods[candidate_.pod].gang &&
        !session_.filters.holds_without_nominated(candidate_, s.later, session_.tx.promised(), node))
        return false;
    if (lifted_.empty()) return true;
    const auto mark = session_.tx.checkpoint();
    for (PodId pod : lifted_)
        session_.tx.unplace(pod);
    const bool fits = session_.filters.check_view(candidate_, s.later, s.later, node).fits();
    session_.tx.rollback(mark);
    return fits;
}

}  // namespace reprieve
