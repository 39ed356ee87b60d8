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
        const bool over = use[i].whole > 1 || (use[i].whole == 1 && use[i].shares > 0) ||
                          use[i].milli > kMilliPerDevice || (use[i].memory > devices[i].memory && use[i].shares > 0);
        if (over) return false;
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

std::vector<PodId> nominated_that_matter(const Session& session, PodId pod) {
    const Snapshot& s = session.snapshot;
    const PodClass& cls = s.class_of(pod);
    std::vector<PodId> out;
    if (cls.affinity.empty() && cls.spread.empty()) return out;
    const GangId own = s.pods[pod].gang;
    for (const Op& op : session.tx.journal()) {
        if (op.kind != OpKind::kNominate || op.sign < 0 || s.pods[op.pod].state != PodState::kNominated) continue;
        if (own && s.pods[op.pod].gang == own) continue;
        const std::vector<TermId>& matched = s.class_of(op.pod).matched;
        const auto counts = [&](TermId term) { return std::ranges::binary_search(matched, term); };
        if (std::ranges::any_of(cls.affinity, counts) || std::ranges::any_of(cls.spread, counts, &ClassSpread::term))
            out.push_back(op.pod);
    }
    std::ranges::sort(out);
    const auto repeated = std::ranges::unique(out);
    out.erase(repeated.begin(), repeated.end());
    return out;
}

bool fits_without(Session& session, const Candidate& candidate, std::span<const PodId> nominated, NodeId node) {
    if (nominated.empty()) return true;
    const Snapshot& s = session.snapshot;
    const auto mark = session.tx.checkpoint();
    for (PodId pod : nominated)
        session.tx.unplace(pod);
    const bool fits = session.filters.check_view(candidate, s.later, s.later, node).fits();
    session.tx.rollback(mark);
    return fits;
}

}  // namespace reprieve
